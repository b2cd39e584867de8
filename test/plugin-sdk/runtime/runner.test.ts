import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { MantelError, type PluginContext } from "@mantel/plugin-sdk";
import { LAMP, startRunner } from "./start-runner.ts";

type Context = PluginContext<undefined, undefined>;

test("a plugin is started with what the host asks it to start with", async (t) => {
  let seen: Context | undefined;

  const { started } = await startRunner(t, (ctx) => void (seen = ctx), {
    config: { name: "Lamp" },
    handedOver: { on: true },
    folders: { calendars: "/data/calendars" },
  });

  await started;
  assert.equal(seen?.id, "garden-bridge");
  assert.deepEqual(seen?.config, { name: "Lamp" });
  assert.deepEqual(seen?.handedOver, { on: true });
  assert.equal(seen?.house.timeZone, "Europe/Berlin");
  assert.equal(seen?.folder("calendars"), "/data/calendars");
  assert.equal(seen?.signal.aborted, false);
});

test("a plugin without commands or scenes refuses them in words", async (t) => {
  const { runner, started } = await startRunner(t, () => undefined);
  await started;

  const command = runner.command({ nativeId: "lamp", command: { on: true }, commandId: "1" });
  const scene = runner.activateScene({ nativeId: "movie", activationId: "1" });

  await assert.rejects(command, { code: "invalid", message: "the bridge takes no commands" });
  await assert.rejects(scene, { code: "invalid", message: "the bridge activates no scenes" });
});

test("a log field that is no JSON is told as text", async (t) => {
  const { said, started } = await startRunner(t, ({ log }) => {
    log.info("counted", { amount: 12n });
  });
  await started;

  assert.deepEqual(said, [
    ["log", { level: "info", sentence: "counted", fields: { amount: "12n" } }],
  ]);
});

test("a start that throws leaves nothing open", async (t) => {
  const closed: string[] = [];
  const { started } = await startRunner(t, async ({ onDispose, signal }) => {
    onDispose(() => void closed.push(`aborted: ${signal.aborted}`));
    throw new Error("no such lamp");
  });

  await assert.rejects(started, /no such lamp/);

  assert.deepEqual(closed, ["aborted: true"]);
});

test("commands, scenes and services reach the plugin as they were asked", async (t) => {
  const asked: unknown[] = [];
  const { runner, started } = await startRunner(t, () => ({
    command: async (...all) => void asked.push(all),
    activateScene: async (...all) => void asked.push(all),
    services: { "mqtt.publish": async (message) => void asked.push(message) },
  }));
  await started;

  await runner.command(LAMP);
  await runner.activateScene({ nativeId: "dusk", activationId: "a1" });
  await runner.callService({ name: "mqtt.publish", input: { topic: "a" } });

  assert.deepEqual(asked, [["lamp-1", { on: true }, "c1"], ["dusk", "a1"], { topic: "a" }]);
});

for (const name of ["mqtt.publish", "toString", "__proto__"]) {
  test(`a service named ${name}, which the plugin does not provide, is refused`, async (t) => {
    const { runner, started } = await startRunner(t, () => ({ services: {} }));
    await started;

    await assert.rejects(async () => runner.callService({ name, input: {} }), {
      code: "service_unavailable",
      message: `the plugin does not provide ${name}`,
    });
  });
}

test("updates of one turn are one message, in the order they were made", async (t) => {
  const { said, started } = await startRunner(t, ({ devices }) => {
    devices.update({ nativeId: "a", state: { on: true } });
    devices.update({ nativeId: "b", state: { on: true } }, { nativeId: "a", available: false });
  });
  await started;

  assert.deepEqual(said, [
    [
      "updateDevices",
      [
        { nativeId: "a", state: { on: true } },
        { nativeId: "b", state: { on: true } },
        { nativeId: "a", available: false },
      ],
    ],
  ]);
});

test("updates before a publish arrive before it", async (t) => {
  const { said, started } = await startRunner(t, async ({ devices }) => {
    devices.update({ nativeId: "a", state: { on: true } });
    await devices.publish([]);
  });
  await started;

  assert.deepEqual(
    said.map(([method]) => method),
    ["updateDevices", "publishDevices"],
  );
});

for (const [outcome, fails] of [
  ["is done", false],
  ["fails", true],
] as const) {
  test(`updates made in a command arrive before the answer that it ${outcome}`, async (t) => {
    const { runner, said, started } = await startRunner(t, ({ devices }) => ({
      async command(nativeId, command) {
        await delay(1);
        devices.update({ nativeId, state: command });
        if (fails) throw new MantelError("bridge_down", "the lamp is away");
      },
    }));
    await started;

    const answer = runner.command(LAMP);
    await (fails ? assert.rejects(answer, { code: "bridge_down" }) : answer);

    assert.deepEqual(said, [["updateDevices", [{ nativeId: "lamp-1", state: { on: true } }]]]);
  });
}

test("what a plugin publishes, reports and calls goes to the host", async (t) => {
  const { said, started } = await startRunner(
    t,
    async ({ call, publish, reportDegraded, scenes }) => {
      await scenes.publish([{ nativeId: "dusk", name: "Dusk" }]);
      await publish("system.sample", { sampledAt: "now" } as never);
      await call("broker.address", {});
      reportDegraded("the lamp is away");
      reportDegraded(undefined);
    },
    { uses: ["broker.address"] },
  );
  await started;

  assert.deepEqual(said, [
    ["publishScenes", [{ nativeId: "dusk", name: "Dusk" }]],
    ["publish", { name: "system.sample", value: { sampledAt: "now" } }],
    ["callService", { name: "broker.address", input: {} }],
    ["reportDegraded", { reason: "the lamp is away" }],
    ["reportDegraded", {}],
  ]);
});

test("a service or folder that the manifest does not name is refused with what to add", async (t) => {
  const { started } = await startRunner(t, async ({ call, folder }) => {
    assert.throws(() => folder("toString"), {
      code: "invalid",
      message: /add "toString" to "mantel\.permissions\.folders"/,
    });
    await assert.rejects(call("mqtt.publish", {} as never), {
      code: "invalid",
      message: /garden-bridge reaches for mqtt\.publish.*add "mqtt\.publish" to "mantel\.uses"/,
    });
  });

  await started;
});

test("records go to the host with their level, and errors in them as their stack", async (t) => {
  const error = new Error("socket hang up");
  const { said, started } = await startRunner(t, ({ log }) => {
    log.debug("a poll begins");
    log.warn("the lamp is away", {
      tries: 3,
      error,
      without: Object.assign(new Error("x"), { stack: undefined }),
    });
  });
  await started;

  assert.deepEqual(said, [
    ["log", { level: "debug", sentence: "a poll begins" }],
    [
      "log",
      {
        level: "warn",
        sentence: "the lamp is away",
        fields: { tries: 3, error: error.stack, without: "Error: x" },
      },
    ],
  ]);
});
