import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate, setTimeout as delay } from "node:timers/promises";
import {
  brokerAddress,
  MantelError,
  mqttPublish,
  type PluginContext,
  provide,
} from "@mantel/plugin-sdk";
import { LAMP, startRunner } from "./start-runner.ts";

type Context = PluginContext<undefined, undefined>;

test("the context contains the data of the start request", async (t) => {
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
  assert.equal(seen?.home.timeZone, "Europe/Berlin");
  assert.equal(seen?.folder("calendars"), "/data/calendars");
  assert.equal(seen?.signal.aborted, false);
});

test("commands and scenes fail with a clear error if the plugin does not support them", async (t) => {
  const { runner, started } = await startRunner(t, () => undefined);
  await started;

  const command = runner.command({ nativeId: "lamp", command: { on: true }, commandId: "1" });
  const scene = runner.activateScene({ nativeId: "movie", activationId: "1" });

  await assert.rejects(command, {
    code: "invalid",
    message: "the bridge does not accept commands",
  });
  await assert.rejects(scene, { code: "invalid", message: "the bridge does not support scenes" });
});

test("a log field that is not JSON is logged as text", async (t) => {
  const { said, started } = await startRunner(t, ({ log }) => {
    log.info("counted", { amount: 12n });
  });
  await started;

  assert.deepEqual(said, [
    ["log", { level: "info", sentence: "counted", fields: { amount: "12n" } }],
  ]);
});

test("any number of timers and connections may end with the plugin's signal", async (t) => {
  const warnings: string[] = [];
  const warned = ({ message }: Error): void => void warnings.push(message);
  process.on("warning", warned);
  t.after(() => process.off("warning", warned));
  const waits: Promise<unknown>[] = [];

  const { runner, started } = await startRunner(t, ({ signal }) => {
    while (waits.length < 20) {
      waits.push(delay(60_000, undefined, { signal }).catch(({ name }: Error) => name));
    }
  });
  await started;
  await setImmediate(); // warnings are emitted by then
  await runner.quiesce({ deadlineMs: 100 });

  assert.deepEqual(warnings, []);
  assert.deepEqual(new Set(await Promise.all(waits)), new Set(["AbortError"]));
});

test("a start that throws closes everything it opened", async (t) => {
  const closed: string[] = [];
  const { started } = await startRunner(t, async ({ onDispose, signal }) => {
    onDispose(() => void closed.push(`aborted: ${signal.aborted}`));
    throw new Error("no such lamp");
  });

  await assert.rejects(started, /no such lamp/);

  assert.deepEqual(closed, ["aborted: true"]);
});

test("commands, scene activations and service calls reach the plugin unchanged", async (t) => {
  const asked: unknown[] = [];
  const { runner, started } = await startRunner(t, () => ({
    command: async (...all) => void asked.push(all),
    activateScene: async (...all) => void asked.push(all),
    services: [provide(mqttPublish, async (message) => void asked.push(message))],
  }));
  await started;

  const light = { parts: { light: { on: false } }, extra: { childLock: true } };
  await runner.command(LAMP);
  await runner.command({ ...LAMP, beyond: light });
  await runner.activateScene({ nativeId: "dusk", activationId: "a1" });
  await runner.callService({ name: "mqtt.publish", input: { topic: "a" } });

  assert.deepEqual(asked, [
    ["lamp-1", { on: true }, "c1", { parts: {}, extra: {} }],
    ["lamp-1", { on: true }, "c1", light],
    ["dusk", "a1"],
    { topic: "a" },
  ]);
});

test("a picture reaches the host as base64, and a plugin without one has none", async (t) => {
  const { runner, started } = await startRunner(t, () => ({
    image: async (nativeId) =>
      nativeId === "front" ? { type: "image/jpeg", bytes: Buffer.of(0xff, 0xd8, 0xff) } : undefined,
  }));
  await started;
  const other = await startRunner(t, () => ({}));
  await other.started;

  const front = await runner.image({ nativeId: "front" });
  assert.deepEqual(front, { type: "image/jpeg", base64: "/9j/" });
  assert.equal(await runner.image({ nativeId: "back" }), null);
  assert.equal(await other.runner.image({ nativeId: "front" }), null);
});

for (const [name, replacement] of [
  ["reportDegraded", "ctx.status.ok() and ctx.status.degraded(reason)"],
  ["house", "ctx.home"],
] as const) {
  test(`code that uses the old name ctx.${name} gets an error with the new one`, async (t) => {
    const { started } = await startRunner(t, (ctx) => {
      (ctx as unknown as Record<string, () => void>)[name]?.();
    });

    await assert.rejects(started, {
      name: "TypeError",
      message: `ctx.${name} is now ${replacement}`,
    });
  });
}

for (const name of ["mqtt.publish", "toString", "__proto__"]) {
  test(`a call of the service ${name}, which the plugin does not provide, is refused`, async (t) => {
    const { runner, started } = await startRunner(t, () => ({ services: [] }));
    await started;

    await assert.rejects(async () => runner.callService({ name, input: {} }), {
      code: "service_unavailable",
      message: `the plugin does not provide ${name}`,
    });
  });
}

test("updates of one turn of the event loop are sent in one message, in order", async (t) => {
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

test("updates made before a publish arrive before it", async (t) => {
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
  test(`updates made during a command arrive before the answer that it ${outcome}`, async (t) => {
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

test("publications, degraded reports and service calls are sent to the host", async (t) => {
  const { said, started } = await startRunner(
    t,
    async ({ call, publish, status, scenes }) => {
      await scenes.publish([{ nativeId: "dusk", name: "Dusk" }]);
      await publish("calendar.window", { sampledAt: "now" } as never);
      await call(brokerAddress, {});
      status.degraded("the lamp is away");
      status.ok();
    },
    { uses: ["broker.address"] },
  );
  await started;

  assert.deepEqual(said, [
    ["publishScenes", [{ nativeId: "dusk", name: "Dusk" }]],
    ["publish", { name: "calendar.window", value: { sampledAt: "now" } }],
    ["callService", { name: "broker.address", input: {} }],
    ["reportDegraded", { reason: "the lamp is away" }],
    ["reportDegraded", {}],
  ]);
});

test("using an undeclared service or folder fails and names the manifest line to add", async (t) => {
  const { started } = await startRunner(t, async ({ call, folder }) => {
    assert.throws(() => folder("toString"), {
      code: "invalid",
      message: /add "toString" to "mantel\.permissions\.folders"/,
    });
    await assert.rejects(call(mqttPublish, {} as never), {
      code: "invalid",
      message: /garden-bridge uses mqtt\.publish.*add "mqtt\.publish" to "mantel\.uses"/,
    });
  });

  await started;
});

test("log records are sent to the host with their level, and errors as their stack", async (t) => {
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

test("many updates of one turn are split into several messages, in order", async (t) => {
  const { said, started } = await startRunner(t, ({ devices }) => {
    for (let power = 0; power < 450; power++)
      devices.update({ nativeId: "lamp", state: { power } });
  });
  await started;

  const sent = said.map(([, input]) => input as { state: { power: number } }[]);
  assert.deepEqual(
    sent.map(({ length }) => length),
    [200, 200, 50],
  );
  assert.deepEqual(sent.flat().at(-1)?.state, { power: 449 });
});

test("updates that cannot be sent are dropped with a log record", async (t) => {
  const { said, started } = await startRunner(t, ({ devices }) => {
    devices.update({ nativeId: "lamp", state: { power: 3n as never } });
  });
  await started;

  const [method, record] = said.at(-1) ?? [];
  assert.equal(method, "log");
  assert.match(JSON.stringify(record), /device updates dropped.*BigInt/);
});

test("an event is sent after the updates that were made before it, with its data if it has some", async (t) => {
  const { said, started } = await startRunner(t, ({ devices }) => {
    devices.update({ nativeId: "lamp-1", state: { on: true } });
    devices.event("dial-1", "turn", { steps: 3 });
    devices.event("dial-1", "press");
  });
  await started;

  assert.deepEqual(said.slice(0, 3), [
    ["updateDevices", [{ nativeId: "lamp-1", state: { on: true } }]],
    ["announceDeviceEvent", { nativeId: "dial-1", event: "turn", data: { steps: 3 } }],
    ["announceDeviceEvent", { nativeId: "dial-1", event: "press" }],
  ]);
});

test("an update made outside of a call is sent in the same turn of the event loop", async (t) => {
  let update: () => void = () => undefined;
  const { said, started } = await startRunner(t, ({ devices }) => {
    update = () => devices.update({ nativeId: "a", available: false });
  });
  await started;

  update();
  assert.deepEqual(said, []);
  await Promise.resolve();

  assert.deepEqual(said, [["updateDevices", [{ nativeId: "a", available: false }]]]);
});
