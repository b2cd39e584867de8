import assert from "node:assert/strict";
import { test } from "node:test";
import type { DiscoveredService } from "@mantel/plugin-sdk/discovery";
import { Connectables } from "../../../host/discovery/connectable.ts";

const BROKER = {
  mdns: "_mqtt._tcp",
  name: "MQTT broker",
  icon: "mdi:swap-horizontal",
  options: { url: "mqtt://{address}:{port}" },
};

const service = (addresses: readonly string[]): DiscoveredService => ({
  name: "<b>evil</b>",
  host: "box.local",
  addresses,
  port: 1883,
  txt: {},
});

function stage(answers: Record<string, readonly DiscoveredService[]>) {
  const asked: string[] = [];
  let now = 0;
  const connectables = new Connectables({
    unconnected: () => [
      {
        id: "broker",
        finds: [BROKER, { mdns: "_hue._tcp", name: "Hue" }],
        translations: { de: { "MQTT broker": "MQTT-Broker" }, fr: { Address: "Adresse" } },
      },
    ],
    search: async (module, name) => {
      asked.push(`${module} ${name}`);
      const found = answers[name];
      if (!found) throw new Error("no network");
      return found;
    },
    now: () => now,
  });
  return { connectables, asked, wait: (ms: number) => (now += ms) };
}

test("a found service has the plugin's words, its address and the options that connect it", async () => {
  const { connectables } = stage({
    "_mqtt._tcp": [service(["fe80::1", "192.168.1.5"]), service(["192.168.1.5"]), service([])],
  });

  assert.deepEqual(await connectables.find(), [
    {
      module: "broker",
      name: "MQTT broker",
      titles: { de: "MQTT-Broker" },
      icon: "mdi:swap-horizontal",
      address: "192.168.1.5",
      options: { url: "mqtt://192.168.1.5:1883" },
    },
  ]);
});

test("pages that ask within ten seconds share one search", async () => {
  const { connectables, asked, wait } = stage({ "_mqtt._tcp": [], "_hue._tcp": [] });

  await Promise.all([connectables.find(), connectables.find()]);
  assert.deepEqual(asked, ["broker _mqtt._tcp", "broker _hue._tcp"]);
  wait(10_001);
  await connectables.find();

  assert.equal(asked.length, 4);
});
