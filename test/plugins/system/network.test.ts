import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ratesBetween, readInterfaces, readTraffic } from "../../../plugins/system/network.ts";
import { emptyFolder } from "../../helpers/folder.ts";

test("counters are read from the kernel's files, and a disappearing interface is skipped", async (t) => {
  const folder = await emptyFolder(t);
  const statistics = join(folder, "eth0/statistics");
  await mkdir(statistics, { recursive: true });
  await writeFile(join(statistics, "rx_bytes"), "370734584\n");
  await writeFile(join(statistics, "tx_bytes"), "982844\n");
  await mkdir(join(folder, "wlan0"));

  const interfaces = await readInterfaces(folder);

  assert.deepEqual(interfaces, [{ name: "eth0", receivedBytes: 370734584, sentBytes: 982844 }]);
});

test("the loopback interface is omitted", async () => {
  const traffic = await readTraffic();

  assert.ok(traffic.every(({ name }) => name !== "lo"));
});

test("a rate is bytes per second", () => {
  const before = [{ name: "eth0", receivedBytes: 1_000, sentBytes: 0 }];
  const now = [{ name: "eth0", receivedBytes: 6_000, sentBytes: 250 }];

  assert.deepEqual(ratesBetween(before, now, 2_500), [
    { name: "eth0", receivedPerSecond: 2_000, sentPerSecond: 100 },
  ]);
});

test("an interface that is new or has started over has no rate yet", () => {
  const before = [{ name: "eth0", receivedBytes: 1_000, sentBytes: 1_000 }];
  const now = [
    { name: "eth0", receivedBytes: 10, sentBytes: 1_000 },
    { name: "eth1", receivedBytes: 10, sentBytes: 10 },
  ];

  assert.deepEqual(ratesBetween(before, now, 1_000), [
    { name: "eth0", receivedPerSecond: null, sentPerSecond: 0 },
    { name: "eth1", receivedPerSecond: null, sentPerSecond: null },
  ]);
});
