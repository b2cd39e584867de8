import assert from "node:assert/strict";
import { test } from "node:test";
import { parseProcNetDev, ratesBetween, readTraffic } from "../../../plugins/system/network.ts";

const PROC_NET_DEV = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:    3193      30    0    0    0     0          0         0     3193      30    0    0    0     0       0          0
  eth0: 370734584  256893    0    0    0     0          0         0   982844   12029    0    0    0     0       0          0
wlan0:7 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0
`;

test("counters are read from the kernel's table, however it is spaced", () => {
  assert.deepEqual(parseProcNetDev(PROC_NET_DEV), [
    { name: "lo", receivedBytes: 3193, sentBytes: 3193 },
    { name: "eth0", receivedBytes: 370734584, sentBytes: 982844 },
    { name: "wlan0", receivedBytes: 7, sentBytes: 9 },
  ]);
});

test("the loopback is left out", async () => {
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
