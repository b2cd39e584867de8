import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import {
  definePlugin,
  defineService,
  MantelError,
  type PluginContext,
  provide,
  Type,
} from "@mantel/plugin-sdk";
import { startPlugin, testOptions, type TestHostOptions } from "@mantel/plugin-sdk/testing";
import { emptyFolder } from "../helpers/folder.ts";

const LAMP = {
  id: "demo:light:1",
  capabilities: {
    on: { type: "boolean" },
    brightness: { type: "number", min: 0, max: 100, unit: "%" },
  },
  state: { on: false, brightness: 50 },
} as const;
const MANIFEST = { id: "garden", kinds: ["service"], server: "index.ts" };
const MINUTE = 60_000;

/** The context of a plugin that does nothing, in a host of the test. */
async function contextIn(t: TestContext, options: TestHostOptions) {
  let context: PluginContext<unknown, unknown> | undefined;
  const running = await startPlugin(
    definePlugin({ start: (given) => void (context = given as never) }),
    options,
  );
  t.after(() => running.stop());
  assert.ok(context);
  return { ctx: context, running };
}

test("a command to the home is refused at each wrong field, and the state stays", async (t) => {
  const { ctx, running } = await contextIn(t, { home: { devices: [LAMP] } });

  await assert.rejects(
    ctx.home.command(LAMP.id, { brightness: 500, nonsense: true }),
    ({ code, extras }: MantelError) => {
      assert.equal(code, "invalid");
      assert.deepEqual(extras.errors?.map(({ pointer }) => pointer).toSorted(), [
        "/brightness",
        "/nonsense",
      ]);
      return true;
    },
  );
  await assert.rejects(ctx.home.command(LAMP.id, {}), { code: "invalid" });

  assert.deepEqual(running.home.device(LAMP.id).state, LAMP.state);
  assert.deepEqual(running.home.commands, []);
});

test("a command changes parts and extras, and a brightness turns on", async (t) => {
  const extra = { capabilities: { childLock: { type: "boolean" } }, state: { childLock: false } };
  const part = { ...LAMP, id: "lamp", kind: "light", name: "Lamp", pending: {} } as const;
  const device = { ...LAMP, parts: [part], extra: { ...extra, pending: {} } } as never;
  const { ctx, running } = await contextIn(t, { home: { devices: [device] } });

  const command = { brightness: 20, parts: { lamp: { on: true } }, extra: { childLock: true } };
  await ctx.home.command(LAMP.id, command);

  const { state, parts, extra: after } = running.home.device(LAMP.id);
  assert.deepEqual(state, { on: true, brightness: 20 });
  assert.deepEqual(
    parts?.map((each) => each.state),
    [{ on: true, brightness: 50 }],
  );
  assert.deepEqual(after?.state, { childLock: true });
});

test("a device without capabilities takes commands to the fields of its state", async (t) => {
  const devices = [
    { id: "demo:sensor:1", state: { temperature: 20 } },
    { id: LAMP.id, state: { on: false } },
  ];
  const { ctx } = await contextIn(t, { home: { devices } });

  await ctx.home.command(LAMP.id, { on: true });
  await assert.rejects(ctx.home.command(LAMP.id, { on: 1 }), { code: "invalid" });
  await assert.rejects(ctx.home.command("demo:sensor:1", { temperature: 3 }), /is read-only/);
});

test("the next command to a device fails if the test says so, and listeners are told", async (t) => {
  const { ctx, running } = await contextIn(t, { home: { devices: [LAMP] } });
  const failures: unknown[] = [];
  await ctx.home.failures.on("*", ({ command, error, cause }) => {
    failures.push([command, error.code, cause?.kind]);
  });

  running.home.failNext(LAMP.id, "bridge_down");
  await assert.rejects(ctx.home.command(LAMP.id, { on: true }), { code: "bridge_down" });
  const busy = new MantelError("bridge_rate_limited", "the lamp is hot", { retryAfterMs: 5 });
  running.home.failNext(LAMP.id, busy);
  await assert.rejects(ctx.home.command(LAMP.id, { on: true }), { extras: { retryAfterMs: 5 } });
  assert.equal(running.home.device(LAMP.id).state["on"], false);
  await ctx.home.command(LAMP.id, { on: true });

  assert.equal(running.home.device(LAMP.id).state["on"], true);
  assert.deepEqual(failures, [
    [{ on: true }, "bridge_down", "module"],
    [{ on: true }, "bridge_rate_limited", "module"],
  ]);
});

test("wrong scenes and schedules are refused", async (t) => {
  const { ctx, running } = await contextIn(t, {});

  await assert.rejects(ctx.scenes.publish([{ nope: 1 } as never]), /\/0\/nativeId is missing/);
  const dusk = { nativeId: "dusk", name: "Dusk" };
  await assert.rejects(ctx.scenes.publish([dusk, dusk]), /which another scene has/);
  assert.deepEqual(running.scenes, []);
  await assert.rejects(
    ctx.schedule.every("often", 10, () => undefined),
    { code: "invalid" },
  );
});

test("calls that a given manifest does not declare are refused with the line to add", async (t) => {
  const items = defineService("acme.items", {
    title: "Items",
    input: Type.Object({}),
    output: Type.Number(),
  });
  const options = { services: [provide(items, () => 1)], folders: { files: "/tmp" } };
  const home = { devices: [LAMP, { id: "demo:lock:1" }] };
  const permissions = { home: { read: ["light:*"], control: [] } };
  const manifest = { ...MANIFEST, permissions };
  const { ctx } = await contextIn(t, { ...options, home, manifest });

  assert.equal(ctx.id, "garden");
  assert.deepEqual(
    (await ctx.home.devices.list("*")).map(({ id }) => id),
    [LAMP.id],
  );
  const refused: [() => unknown, RegExp][] = [
    [() => ctx.home.command(LAMP.id, { on: true }), /"control": \["demo:light:1"\]/],
    [() => ctx.home.devices.on("lock:*", () => undefined), /"read": \["lock:\*"\]/],
    [() => ctx.home.calendar.between(new Date(), new Date()), /"read": \["calendar"\]/],
    [() => ctx.call(items, {}), /add "acme.items" to "mantel.uses"/],
    [() => ctx.devices.publish([]), /add "bridge"/],
    [() => ctx.scenes.publish([]), /add "bridge"/],
    [() => ctx.discover.mdns("_hue._tcp"), /network:local/],
    [async () => ctx.folder("files"), /permissions.folders/],
  ];
  for (const [call, sentence] of refused) {
    await assert.rejects(async () => call(), sentence);
  }
});

test("the manifest of the folder in which the test runs counts, and one without mantel does not", async (t) => {
  const folder = await emptyFolder(t);
  const before = process.cwd();
  t.after(() => process.chdir(before));
  process.chdir(folder);
  const used = defineService("acme.used", {
    title: "Used",
    input: Type.Object({}),
    output: Type.Number(),
  });
  const own = defineService("acme.own", {
    title: "Own",
    input: Type.Object({}),
    output: Type.Number(),
  });
  const plugin = definePlugin({
    test: async (ctx) => `${await ctx.call(used, {})}`,
    start: () => ({ services: [provide(own, () => 2)] }),
  });
  const services = [provide(used, () => 1)];
  const save = (mantel?: object) =>
    writeFile("package.json", JSON.stringify({ name: "mantel-garden", mantel }));

  await save();
  assert.equal(await testOptions(plugin, { services }), "1");
  await save(MANIFEST);
  await assert.rejects(testOptions(plugin, { services }), /"mantel.uses"/);
  const running = await startPlugin(plugin);
  t.after(() => running.stop());
  await assert.rejects(running.call(own, {}), /"provides": \["acme.own"\]/);
  const manifest = pathToFileURL(join(folder, "package.json"));
  process.chdir(before);
  await assert.rejects(testOptions(plugin, { services, manifest }), /"mantel.uses"/);
  process.chdir(folder);
  await save({ ...MANIFEST, kinds: ["nonsense"] });
  await assert.rejects(startPlugin(plugin), /the manifest is invalid: \/kinds\/0/);
});

test("timers are kept over the next start, and runs missed while no plugin ran follow their policy", async () => {
  const runs: [string, boolean][] = [];
  const plugin = definePlugin({
    async start({ schedule }) {
      const note = ({ name, isMissed }: { name: string; isMissed: boolean }) =>
        void runs.push([name, isMissed]);
      await schedule.every("made up", 10 * MINUTE, note, { missed: "once" });
      await schedule.every("left out", 10 * MINUTE, note);
    },
  });
  const now = new Date("2026-11-23T12:00:00Z");
  const first = await startPlugin(plugin, { now });
  await first.clock.advance(5 * MINUTE);
  await first.stop();
  const second = await startPlugin(plugin, { clock: first.clock });
  assert.equal(second.clock.nextRun("made up")?.toISOString(), "2026-11-23T12:10:00.000Z");
  await second.stop();
  await second.clock.advance(20 * MINUTE);
  assert.deepEqual(runs, []);

  const third = await startPlugin(plugin, { clock: second.clock });
  assert.deepEqual(runs, [["made up", true]]);
  await third.clock.advance(5 * MINUTE);

  assert.deepEqual(runs.slice(1), [
    ["made up", false],
    ["left out", false],
  ]);
  await third.stop();
});
