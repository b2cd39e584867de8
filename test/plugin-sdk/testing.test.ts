import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { test } from "node:test";
import {
  brokerAddress,
  definePlugin,
  defineRoute,
  type DeviceDescription,
  type DeviceState,
  handle,
  mqttBroker,
  mqttPublish,
  type PluginStatus,
  provide,
  Type,
} from "@mantel/plugin-sdk";
import type { MantelError } from "@mantel/plugin-sdk/errors";
import { setUp, startPlugin, testOptions } from "@mantel/plugin-sdk/testing";
import { watchResources } from "../helpers/resources.ts";

const LAMP: DeviceDescription = {
  nativeId: "lamp-1",
  kind: "light",
  name: "Lamp",
  capabilities: {
    on: { type: "boolean" },
    brightness: { type: "number", min: 0, max: 100, unit: "%" },
  },
  state: { on: false, brightness: 50 },
};

const bridge = definePlugin({
  state: Type.Object({ on: Type.Boolean() }),
  async start({ devices, handedOver, scenes }) {
    let on = handedOver?.on ?? false;
    await devices.publish([{ ...LAMP, state: { ...LAMP.state, on } }]);
    await scenes.publish([{ nativeId: "dusk", name: "Dusk" }]);
    const turn = (next: boolean) => {
      on = next;
      devices.update({ nativeId: "lamp-1", state: { on } });
    };
    return {
      command: async (_nativeId, command) => turn(command["on"] === true),
      activateScene: async (nativeId) => turn(nativeId === "dusk"),
      handOver: () => ({ on }),
    };
  },
});

test("commands and scenes change the state when they are done; other fields keep their values", async () => {
  const host = await startPlugin(bridge);
  assert.deepEqual(host.state("lamp-1"), { on: false, brightness: 50 });

  await host.command("lamp-1", { on: true });
  assert.deepEqual(host.state("lamp-1"), { on: true, brightness: 50 });
  await host.activateScene("dawn");
  assert.deepEqual(host.state("lamp-1"), { on: false, brightness: 50 });

  assert.deepEqual(host.scenes, [{ nativeId: "dusk", name: "Dusk" }]);
  await host.stop();
});

test("a command reaches parts and extras, and their states change by field", async () => {
  const fan: DeviceDescription = {
    nativeId: "fan",
    kind: "fan",
    name: "Fan",
    capabilities: { on: { type: "boolean" } },
    state: { on: false },
    parts: [
      {
        id: "light",
        kind: "light",
        name: "Light",
        capabilities: LAMP.capabilities,
        state: LAMP.state,
      },
    ],
    extra: {
      capabilities: { childLock: { type: "boolean", group: "configuration" } },
      state: { childLock: false },
    },
  };
  const host = await startPlugin(
    definePlugin({
      async start({ devices }) {
        await devices.publish([fan]);
        return {
          async command(nativeId, state, _commandId, { parts, extra }) {
            devices.update({ nativeId, state, parts, extra });
          },
        };
      },
    }),
  );

  await host.command("fan", { on: true });
  await host.command("fan", {}, { parts: { light: { on: true } }, extra: { childLock: true } });

  const { state, parts, extra } = host.devices.get("fan") ?? {};
  assert.deepEqual(
    [state, parts?.map((part) => part.state), extra?.state],
    [{ on: true }, [{ on: true, brightness: 50 }], { childLock: true }],
  );
  await host.stop();
});

test("the state that stop returns can start the next plugin", async () => {
  const assertClosed = watchResources();
  const before = await startPlugin(bridge);
  await before.command("lamp-1", { on: true });

  const handedOver = await before.stop();
  const after = await startPlugin(bridge, { handedOver });

  assert.deepEqual(handedOver, { on: true });
  assert.equal(after.state("lamp-1")["on"], true);
  await after.stop();
  await assertClosed();
});

test("an unknown device is named in the error", async () => {
  const host = await startPlugin(bridge);

  assert.throws(() => host.state("lamp-2"), {
    code: "device_unknown",
    message: "no published device has the native id lamp-2",
  });
  await host.stop();
});

test("a publish replaces all devices, and later changes of the passed objects have no effect", async () => {
  const host = await startPlugin(
    definePlugin({
      async start({ devices }) {
        await devices.publish([LAMP]);
        const other = { ...LAMP, nativeId: "lamp-2", state: { on: false } };
        await devices.publish([other]);
        other.state.on = true;
        devices.update({ nativeId: "lamp-2", available: false });
      },
    }),
  );

  assert.deepEqual([...host.devices.keys()], ["lamp-2"]);
  assert.deepEqual(host.state("lamp-2"), { on: false });
  assert.equal(host.devices.get("lamp-2")?.available, false);
  await host.stop();
});

test("the plugin gets the test's config, folders, time zone and services", async () => {
  const seen: unknown[] = [];
  const plugin = definePlugin({
    options: Type.Object({ name: Type.String() }),
    async start({ call, config, folder, home }) {
      seen.push(config.name, folder("calendars"), home.timeZone);
      seen.push(await call(brokerAddress, {}));
      await assert.rejects(call(mqttPublish, {} as never), { code: "invalid" });
    },
  });

  const host = await startPlugin(plugin, {
    config: { name: "Lamp" },
    folders: { calendars: "/tmp/calendars" },
    timeZone: "Asia/Tokyo",
    services: [provide(brokerAddress, async () => ({ url: "mqtt://there" }))],
  });

  assert.deepEqual(seen, ["Lamp", "/tmp/calendars", "Asia/Tokyo", { url: "mqtt://there" }]);
  await host.stop();
});

test("publications, log records and the degraded reason are recorded", async () => {
  let report: PluginStatus | undefined;
  const host = await startPlugin(
    definePlugin({
      async start({ log, publish, status }) {
        report = status;
        log.info("started", { lamps: 1 });
        await publish("calendar.window", { start: "2026-11-20T12:00:00Z", events: [] } as never);
      },
    }),
  );

  assert.deepEqual(host.logs, [{ level: "info", sentence: "started", fields: { lamps: 1 } }]);
  assert.equal(host.published["calendar.window"]?.start, "2026-11-20T12:00:00Z");
  report?.degraded("the lamp is away");
  assert.equal(host.degraded, "the lamp is away");
  report?.ok();
  assert.equal(host.degraded, undefined);
  await host.stop();
});

test("a test can call a service of the plugin", async () => {
  const host = await startPlugin(
    definePlugin({
      start: () => ({ services: [provide(brokerAddress, async () => ({ url: "mqtt://here" }))] }),
    }),
  );

  assert.deepEqual(await host.call(brokerAddress, {}), { url: "mqtt://here" });
  await host.stop();
});

test("a plugin can store values, and its last log records are kept", async () => {
  let stored: unknown;
  const host = await startPlugin(
    definePlugin({
      async start({ storage, log, onDispose }) {
        await storage.set("pairing", { key: "abc" });
        stored = await storage.get("pairing");
        onDispose(() => log.info("closed"));
      },
    }),
  );

  await host.stop();

  assert.deepEqual(stored, { key: "abc" });
  assert.deepEqual(host.logs.at(-1), { level: "info", sentence: "closed" });
});

test("a release that fails makes stop fail", async () => {
  const host = await startPlugin(
    definePlugin({
      start({ onDispose }) {
        onDispose(() => Promise.reject(new Error("it was closed already")));
      },
    }),
  );

  await assert.rejects(host.stop(), /a release failed: Error: it was closed already/);
});

test("a start that throws makes startPlugin fail", async () => {
  const broken = definePlugin({
    start() {
      throw new Error("no such lamp");
    },
  });

  await assert.rejects(startPlugin(broken), /no such lamp/);
});

test("each command and each scene has an id of its own", async () => {
  const ids: string[] = [];
  const host = await startPlugin(
    definePlugin({
      start: () => ({
        command: async (_nativeId, _command, id) => void ids.push(id),
        activateScene: async (_nativeId, id) => void ids.push(id),
      }),
    }),
  );

  await host.command("lamp-1", {});
  await host.command("lamp-1", {});
  await host.activateScene("dusk");
  await host.activateScene("dusk");

  assert.equal(new Set(ids).size, 4);
  assert.match(ids.join(" "), /^command-\d+ command-\d+ activation-\d+ activation-\d+$/);
  await host.stop();
});

test("an update with NaN, or of a part or extras that were not published, fails the test by name", async (t) => {
  const { nativeId: _, ...own } = LAMP;
  const part = { ...own, id: "light" };
  const withParts = { ...LAMP, nativeId: "lamp-2", parts: [part, { ...part, id: "fan" }] };
  const host = await startPlugin(
    definePlugin({
      async start({ devices }) {
        await devices.publish([LAMP, withParts]);
        return {
          command: async (nativeId, state, _id, { parts, extra }) =>
            devices.update({ nativeId, state, parts, extra }),
        };
      },
    }),
  );
  const refusals: string[] = [];
  const emit = t.mock.method(process, "emit", (event: string, reason: Error) => {
    refusals.push(`${event}: ${reason.message}`);
    return true;
  });

  await host.command("lamp-1", {}, { parts: { light: { on: true } } });
  await host.command("lamp-2", {}, { parts: { door: { on: true } } });
  await host.command("lamp-1", {}, { extra: { childLock: true } });
  await host.command("lamp-1", { on: Number.NaN });
  await new Promise((done) => setImmediate(done));
  emit.mock.restore();

  assert.deepEqual(refusals, [
    "unhandledRejection: lamp-1 was published without part light",
    "unhandledRejection: lamp-2 was published without part door",
    "unhandledRejection: lamp-1 was published without extras",
    "unhandledRejection: an update of lamp-1 is invalid: /state/on is NaN; use null for an unknown number",
  ]);
  await host.stop();
});

test("the error of a refused update has the plugin's line, and the other updates are applied", async (t) => {
  const host = await startPlugin(
    definePlugin({
      async start({ devices }) {
        await devices.publish([LAMP]);
        const setLamp = (state: DeviceState) => devices.update({ nativeId: "lamp-1", state });
        return {
          command: async () => {
            setLamp({ on: "yes" });
            setLamp({ on: true });
          },
        };
      },
    }),
  );
  const reasons: Error[] = [];
  const emit = t.mock.method(process, "emit", (_event: string, reason: Error) =>
    reasons.push(reason),
  );

  await host.command("lamp-1", {});
  await new Promise((done) => setImmediate(done));
  emit.mock.restore();

  const [first = "", origin = ""] = reasons[0]?.stack?.split("\n") ?? [];
  assert.equal(
    first,
    'MantelError: an update of lamp-1 is invalid: /state/on is "yes"; expected true or false',
  );
  assert.match(origin, /at setLamp \(.*testing\.test\.ts:\d+:\d+\)$/);
  assert.deepEqual([reasons.length, host.state("lamp-1")["on"]], [1, true]);
  await host.stop();
});

test("an update of one part leaves the others as they are", async () => {
  const { nativeId: _, ...own } = LAMP;
  const part = { ...own, id: "light" };
  const host = await startPlugin(
    definePlugin({
      async start({ devices }) {
        await devices.publish([{ ...LAMP, parts: [part, { ...part, id: "fan" }] }]);
        devices.update({ nativeId: "lamp-1", parts: { fan: { on: true } } });
      },
    }),
  );
  await Promise.resolve();

  const states = host.devices.get("lamp-1")?.parts?.map(({ id, state }) => [id, state["on"]]);
  assert.deepEqual(states, [
    ["light", false],
    ["fan", true],
  ]);
  await host.stop();
});

test("device events are recorded, oldest first", async () => {
  const host = await startPlugin(
    definePlugin({
      async start({ devices }) {
        await devices.publish([LAMP]);
        for (const event of ["pressed", "released"]) devices.event("lamp-1", event);
      },
    }),
  );

  assert.deepEqual(
    host.events.map(({ event }) => event),
    ["pressed", "released"],
  );
  await host.stop();
});

test("a published calendar window is whole again", async () => {
  const event = (calendarId: string, title: string) => ({ calendarId, title });
  const events = [event("one", "a"), event("one", "b"), event("two", "c")];
  const host = await startPlugin(
    definePlugin({
      async start({ publish }) {
        await publish("calendar.window", { from: "2026-11-20", events: [] } as never);
        await publish("calendar.window", { from: "2026-11-23", events } as never);
      },
    }),
  );

  assert.deepEqual(host.published["calendar.window"], { from: "2026-11-23", events });
  await host.stop();
});

test("a service without a fake counts as undeclared", async () => {
  const calls: Promise<unknown>[] = [];
  const host = await startPlugin(
    definePlugin({
      start({ call }) {
        calls.push(call(brokerAddress, {}));
      },
    }),
  );

  await assert.rejects(calls[0] ?? Promise.resolve(), {
    code: "invalid",
    message: /uses broker\.address, which its manifest does not declare/,
  });
  await host.stop();
});

test("a plugin starts with an empty record, and the home of a test", async () => {
  const seen: unknown[] = [];
  const host = await startPlugin(
    definePlugin({
      state: Type.Object({}),
      start({ config, home, handedOver }) {
        const { locale, timeZone, pollSeconds } = home;
        seen.push(config, { locale, timeZone, pollSeconds }, handedOver);
      },
    }),
  );

  const home = { locale: "en-GB", timeZone: "Europe/Berlin", pollSeconds: 30 };
  assert.deepEqual(seen, [{}, home, undefined]);
  assert.deepEqual([host.logs, host.events, host.scenes], [[], [], []]);
  assert.deepEqual([host.devices.size, host.published, host.degraded], [0, {}, undefined]);
  await host.stop();
});

test("all failures of a stop are reported, and its files are deleted", async () => {
  const before = await storageFolders();
  const host = await startPlugin(
    definePlugin({
      state: Type.Object({}),
      start({ onDispose }) {
        onDispose(() => Promise.reject(new Error("first")));
        onDispose(() => Promise.reject(new Error("second")));
        return { handOver: () => Promise.reject(new Error("no state")) };
      },
    }),
  );
  const during = await storageFolders();

  await assert.rejects(host.stop(), ({ message }: Error) => {
    const sentences = message.split("; ");
    assert.equal(sentences.length, 3);
    assert.match(sentences[0] ?? "", /^Error: no state/);
    assert.match(sentences[1] ?? "", /^a release failed: Error: second/);
    assert.match(sentences[2] ?? "", /^a release failed: Error: first/);
    return true;
  });

  assert.equal(during.filter((name) => !before.includes(name)).length, 1);
  assert.deepEqual(
    (await storageFolders()).filter((name) => during.includes(name) && !before.includes(name)),
    [],
  );
});

/** The storage folders of plugins that run in a test now. */
async function storageFolders(): Promise<string[]> {
  return (await readdir(tmpdir())).filter((name) => name.startsWith("mantel-plugin-"));
}

test("a device that uses a canonical name with another meaning is refused, as by the host", async () => {
  const publishing = (fields: Partial<DeviceDescription>) =>
    startPlugin(
      definePlugin({ start: ({ devices }) => devices.publish([{ ...LAMP, ...fields }]) }),
    );
  const kelvin = { type: "number", unit: "K" } as const;
  const part = { id: "light", kind: "light", name: "Light", state: {} } as const;

  const wrong: readonly (readonly [Partial<DeviceDescription>, string])[] = [
    [{ capabilities: { on: { type: "text" } }, state: {} }, "/0/capabilities/on"],
    [
      { parts: [{ ...part, capabilities: { brightness: kelvin } }] },
      "/0/parts/0/capabilities/brightness",
    ],
    [
      {
        extra: {
          capabilities: { effect: { type: "choice", values: ["a"], group: "main" } },
          state: {},
        },
      },
      "/0/extra/capabilities/effect",
    ],
  ];
  for (const [fields, pointer] of wrong) {
    await assert.rejects(publishing(fields), ({ code, extras }: MantelError) => {
      assert.deepEqual([code, extras.errors?.[0]?.pointer], ["invalid", pointer]);
      return true;
    });
  }
});

test("a test can send requests to a route of the plugin", async () => {
  const upload = defineRoute({
    method: "POST",
    path: "/files/:name",
    scope: "control",
    summary: "Upload a file",
    raw: true,
  });
  const host = await startPlugin(
    definePlugin({
      start: ({ routes }) => ({
        routes: [
          handle(upload, async ({ params, bytes, headers }) => ({
            json: [params, bytes.length, headers, await routes.url(upload)],
          })),
        ],
      }),
    }),
  );

  const answer = await host.request(upload, {
    params: { name: "a" },
    bytes: Buffer.from("abc"),
    headers: { "x-signature": "s" },
  });

  const url = "/api/v1/plugins/test/hooks/secret/files/:name";
  assert.deepEqual(answer, { json: [{ name: "a" }, 3, { "x-signature": "s" }, url] });
  await host.stop();
});

test("options have the defaults of their schema, and wrong ones are refused", async () => {
  const plugin = definePlugin({
    options: Type.Object({
      name: Type.String({ default: "Lamp" }),
      key: Type.String({ writeOnly: true }),
    }),
    start: ({ config, log }) => log.info("started", { ...config }),
  });

  const host = await startPlugin(plugin, { config: { key: "k" } });

  assert.deepEqual(host.logs.at(-1)?.fields, { name: "Lamp", key: "k" });
  await host.stop();
  await assert.rejects(startPlugin(plugin), /the config is invalid: .*key/);
});

for (const [fault, device, message] of [
  [
    "a value of the wrong type",
    { ...LAMP, state: { on: 1 } },
    /\/0\/state\/on is 1; expected true/,
  ],
  ["a value out of range", { ...LAMP, state: { brightness: 101 } }, /a number from 0 to 100/],
  ["NaN", { ...LAMP, state: { on: Number.NaN } }, /\/0\/state\/on is NaN; use null for/],
  ["a value without a capability", { ...LAMP, state: { colour: 1 } }, /no such capability/],
  ["a field that does not exist", { ...LAMP, colour: "red" }, /the device list is invalid: /],
] as const) {
  test(`a device with ${fault} is refused`, async () => {
    const publishing = definePlugin({
      start: ({ devices }) => devices.publish([device as DeviceDescription]),
    });

    await assert.rejects(startPlugin(publishing), message);
  });
}

test("two devices with one native id are refused", async () => {
  const publishing = definePlugin({ start: ({ devices }) => devices.publish([LAMP, LAMP]) });

  await assert.rejects(startPlugin(publishing), /\/1\/nativeId is lamp-1, which another/);
});

const paired = definePlugin({
  options: Type.Object({ address: Type.String(), port: Type.Integer({ default: 80 }) }),
  start: () => undefined,
  test: async ({ config, call }) =>
    `${await call(mqttBroker, {}).then(({ url }) => url)} ${config.address}:${config.port}`,
  setup: async (ctx) => {
    const form = Type.Object({ address: Type.String({ minLength: 3, default: "a.test" }) });
    const { address } = await ctx.ask({ title: "Address", form });
    ctx.show({ title: "Press the button" });
    return { address };
  },
});

test("the test of options runs with defaults and fakes of services", async () => {
  const services = [provide(mqttBroker, () => ({ url: "mqtt://a.test" }))];

  const sentence = await testOptions(paired, { config: { address: "b.test" }, services });

  assert.equal(sentence, "mqtt://a.test b.test:80");
  await assert.rejects(testOptions(paired), /the config is invalid: .*address/);
});

test("a setup gets the answers of the test, and shows its steps", async () => {
  const { options, steps } = await setUp(paired, { answers: [{ address: "b.test" }] });
  const byDefault = await setUp(paired, { answers: [() => ({})] });

  assert.deepEqual(options, { address: "b.test" });
  assert.deepEqual(byDefault.options, { address: "a.test" });
  assert.deepEqual(
    steps.map(({ title }) => title),
    ["Address", "Press the button"],
  );
  await assert.rejects(setUp(paired), /"Address" has no answer/);
  await assert.rejects(setUp(paired, { answers: [{ address: "b" }] }), /the answer to "Address"/);
});

test("searches of the network find what the test says, in plugins and in their trials", async () => {
  const lamp = {
    name: "Lamp",
    host: "lamp.local",
    addresses: ["192.168.1.7"],
    port: 80,
    txt: { id: "7" },
  };
  const plugin = definePlugin({
    async test({ discover }) {
      const [found] = await discover.mdns("_lamp._tcp", { forMs: 100 });
      return `found ${found?.name}`;
    },
    async start({ discover, log }) {
      log.info("found", { lamps: await discover.mdns("_lamp._tcp") });
      log.info("none", { devices: await discover.ssdp("ssdp:all") });
    },
  });
  const network = { mdns: { "_lamp._tcp": [lamp] } };

  const host = await startPlugin(plugin, { network });

  assert.deepEqual(
    host.logs.map(({ fields }) => fields),
    [{ lamps: [lamp] }, { devices: [] }],
  );
  assert.equal(await testOptions(plugin, { network }), "found Lamp");
  await host.stop();
});
