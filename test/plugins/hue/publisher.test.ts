import assert from "node:assert/strict";
import { test } from "node:test";
import type { DeviceDescription, SceneDescription } from "@mantel/plugin-sdk";
import { Publisher } from "../../../plugins/hue/publisher.ts";

const LAMP: DeviceDescription = {
  nativeId: "lamp",
  kind: "light",
  name: "Lamp",
  capabilities: { on: { type: "boolean" } },
  state: { on: false },
};
const SCENE: SceneDescription = { nativeId: "evening", name: "Evening" };

test("devices and scenes that the host refused are published again at the next change", async () => {
  const { publisher, asked, host } = openPublisher();
  host.refuses = true;
  publisher.show([LAMP], [SCENE]);
  await publisher.taken();
  host.refuses = false;

  publisher.show([{ ...LAMP, state: { on: true } }], [SCENE]);
  await publisher.taken();

  assert.deepEqual(asked, ["devices", "scenes", "devices", "scenes"]);
});

test("devices and scenes that the host took are not published twice", async () => {
  const { publisher, asked } = openPublisher();
  publisher.show([LAMP], [SCENE]);
  await publisher.taken();

  publisher.show([{ ...LAMP, state: { on: true } }], [SCENE]);
  publisher.show([{ ...LAMP, state: { on: true } }], [SCENE]);
  await publisher.taken();

  assert.deepEqual(asked, ["devices", "scenes", "update of 1"]);
});

test("a changed extra is an update", async () => {
  const { publisher, asked } = openPublisher();
  const level = { type: "number", unit: "%", group: "main" } as const;
  const dimmed = (brightness: number): DeviceDescription => ({
    ...LAMP,
    extra: { capabilities: { brightness: level }, state: { brightness } },
  });
  publisher.show([dimmed(1)], []);
  await publisher.taken();

  publisher.show([dimmed(2)], []);
  await publisher.taken();

  assert.deepEqual(asked, ["devices", "scenes", "update of 1"]);
});

function openPublisher() {
  const asked: string[] = [];
  const host = { refuses: false };
  const take = (what: string) => async (): Promise<void> => {
    asked.push(what);
    if (host.refuses) throw new Error("refused");
  };
  const quiet = () => undefined;
  const publisher = new Publisher({
    devices: {
      publish: take("devices"),
      update: (...updates) => void asked.push(`update of ${updates.length}`),
      event: quiet,
    },
    scenes: { publish: take("scenes") },
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  });
  return { publisher, asked, host };
}
