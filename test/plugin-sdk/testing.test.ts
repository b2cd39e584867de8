import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { test } from "node:test";
import {
  brokerAddress,
  definePlugin,
  defineRoute,
  type DeviceDescription,
  handle,
  mqttPublish,
  type PluginStatus,
  provide,
  Type,
} from "@mantel/plugin-sdk";
import { startPlugin } from "@mantel/plugin-sdk/testing";
import { watchResources } from "../helpers/resources.ts";
import { LAMP } from "./testing-lamp.ts";

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
