import assert from "node:assert/strict";
import { test } from "node:test";
import { type DeviceDescription, Health } from "@mantel/plugin-sdk";
import { DeviceStore } from "../../../plugins/zigbee2mqtt/device-store.ts";
import { REASONS } from "../../../plugins/zigbee2mqtt/health.ts";
import { Publisher } from "../../../plugins/zigbee2mqtt/publisher.ts";

test("a set that changes while the host refuses the one before is published", async () => {
  const published: (readonly DeviceDescription[])[] = [];
  let refuse: (reason: Error) => void = () => undefined;
  const first = new Promise<void>((_, reject) => (refuse = reject));
  const quiet = () => undefined;
  const status: string[] = [];
  const health = new Health(
    {
      status: { ok: () => void status.push("ok"), degraded: (reason) => void status.push(reason) },
      log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    },
    REASONS,
  );
  health.startReporting();
  const publisher = new Publisher({
    ctx: {
      devices: {
        publish: async (devices) => {
          published.push(devices);
          if (published.length === 1) await first;
        },
        update: quiet,
        event: quiet,
      },
      scenes: { publish: async () => undefined },
      log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    },
    health,
    home: new DeviceStore([], true, quiet),
  });

  const running = publisher.publish();
  await publisher.publish();
  refuse(new Error("refused"));
  await running;

  assert.equal(published.length, 2);
  assert.deepEqual(status.at(-1), "ok");
});
