import assert from "node:assert/strict";
import { test } from "node:test";
import type { DiscoveredService } from "@mantel/plugin-sdk";
import { bridgesOf } from "../../../plugins/hue/discovery.ts";

/** As a bridge says it (seen with BSB002). */
const announced = (bridgeid: string, addresses: readonly string[]): DiscoveredService => ({
  name: `Hue Bridge - ${bridgeid.slice(-6)}`,
  host: `${bridgeid}.local`,
  addresses,
  port: 443,
  txt: { bridgeid, modelid: "BSB002" },
});

test("bridges are discovered by their announcements, each once", async () => {
  const asked: unknown[] = [];
  const find = bridgesOf({
    mdns: async (...search) => {
      asked.push(search);
      return [
        announced("001788FFFE123456", ["fe80::1", "192.168.1.7"]),
        announced("001788FFFE123456", ["192.168.1.7"]),
        announced("001788fffe654321", ["192.168.1.8"]),
      ];
    },
    ssdp: async () => [],
  });

  const found = await find(200);

  assert.deepEqual(asked, [["_hue._tcp", { forMs: 200 }]]);
  assert.deepEqual(found, [
    { id: "001788fffe123456", address: "192.168.1.7" },
    { id: "001788fffe654321", address: "192.168.1.8" },
  ]);
});

test("invalid announcements of a bridge are ignored", async () => {
  const find = bridgesOf({
    mdns: async () => [
      announced("not-an-id", ["192.168.1.7"]),
      announced("001788fffe654321", []),
      { ...announced("001788fffe654321", ["192.168.1.8"]), txt: {} },
      announced("001788fffe123456", ["192.168.1.7"]),
    ],
    ssdp: async () => [],
  });

  assert.deepEqual(await find(200), [{ id: "001788fffe123456", address: "192.168.1.7" }]);
});
