import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { packageJson, startModules } from "../../helpers/module.ts";
import { processTreeOf } from "../../helpers/processes.ts";
import { until } from "../../helpers/until.ts";

const OPTIONS = `
  options: Type.Object({
    address: Type.String({ minLength: 1, pattern: "^[a-z.]+$" }),
    token: Type.Optional(Type.String({ writeOnly: true })),
  }),`;

/** A bridge that waits to be set up; \`parts\` are the trials it has. */
const odd = (parts: string, start = "() => undefined") => ({
  odd: {
    "package.json": packageJson("odd", {
      requiresConfig: true,
      permissions: { hosts: ["config:address"] },
    }),
    "index.ts": `
import { definePlugin, MantelError, Type } from "@mantel/plugin-sdk";
import { connect } from "node:net";
export default definePlugin({ ${OPTIONS} ${parts} start: ${start} });`,
  },
});

const ECHO = `test: async ({ config }) => JSON.stringify(config),`;

test("options are tested before they are stored, and nothing else changes", async (t) => {
  const { registry, config } = await startModules(t, odd(ECHO));
  const before = config.view();

  const result = await registry.trialsOf("odd").test({ address: "lamp.local", token: "s3cret" });

  assert.equal(result.ok, true);
  assert.deepEqual(JSON.parse(result.detail), { address: "lamp.local", token: "s3cret" });
  assert.deepEqual(config.view(), before);
  assert.equal(registry.get("odd").state, "unconfigured");
  assert.deepEqual(registry.get("odd").trials, ["test"]);
});

test("an open network for the setup applies to a trial and not to the module", async (t) => {
  const permissions = { hosts: ["127.0.0.1"], openNetwork: "setup" };
  const { registry } = await startModules(t, {
    finder: {
      "package.json": packageJson("finder", { permissions }),
      "index.ts": `
import { createSocket } from "node:dgram";
import { definePlugin, Type } from "@mantel/plugin-sdk";
const ask = () =>
  new Promise<string>((found, fail) => {
    const socket = createSocket("udp4");
    socket.send("who is there?", 9, "127.0.0.1", (error) => (socket.close(), error ? fail(error) : found("asked")));
  });
export default definePlugin({
  options: Type.Object({ name: Type.Optional(Type.String()) }),
  test: ask,
  start: async ({ log }) => void log.info(await ask().catch(({ message }) => message)),
});`,
    },
  });
  const told = () => registry.logs("finder").map(({ sentence }) => sentence);

  const { ok, detail } = await registry.trialsOf("finder").test({});

  assert.deepEqual([ok, detail], [true, "asked"]);
  assert.ok(!told().includes("asked"));
  assert.ok(told().some((sentence) => sentence.includes('add "openNetwork": "always"')));
  await registry.reload("finder");
  assert.ok(!told().includes("asked"));
});

test("a secret missing from a test is replaced by the stored one", async (t) => {
  const { registry, config, once } = await startModules(t, odd(ECHO));
  await config.patch({ odd: { address: "lamp.local", token: "s3cret" } }, { admin: true });
  const { generation } = await once("odd", ({ state }) => state === "active");

  const result = await registry.trialsOf("odd").test({ address: "other.local" });

  assert.deepEqual(JSON.parse(result.detail), { address: "other.local", token: "s3cret" });
  assert.equal(registry.get("odd").generation, generation);
});

test("invalid options are refused with every fault", async (t) => {
  const { registry } = await startModules(t, odd(ECHO));
  const { trials } = { trials: registry.trialsOf("odd") };

  await assert.rejects(trials.test({ address: "NO", colour: 1 }), (error: { extras: unknown }) => {
    const { errors } = error.extras as { errors: { pointer: string }[] };
    assert.deepEqual(errors.map(({ pointer }) => pointer).toSorted(), [
      "/odd/address",
      "/odd/colour",
    ]);
    return true;
  });
  await assert.rejects(trials.test({}), /address is missing/);
});

const FAULTS: readonly (readonly [name: string, body: string, detail: RegExp])[] = [
  ["an expected failure", `throw new MantelError("bridge_down", "nobody is there")`, /^nobody is/],
  ["a fault of the code", `throw new TypeError("what")`, /TypeError: what/],
  ["an exit", `process.exit(3)`, /exit/],
  ["an endless loop", `for (;;);`, /did not answer|silent|sign of life/],
  [
    "a host that is not declared",
    `await new Promise((_, no) => connect(1, "10.9.8.7").on("error", no))`,
    /10\.9\.8\.7/,
  ],
];

for (const [name, body, detail] of FAULTS) {
  test(`a test that meets ${name} says so, and leaves no process`, async (t) => {
    const { registry } = await startModules(t, odd(`test: async () => { ${body} },`));

    const result = await registry.trialsOf("odd").test({ address: "lamp.local" });

    assert.equal(result.ok, false);
    assert.match(result.detail, detail);
  });
}

test("a module runs one test at a time, and a stop ends it", async (t) => {
  const { registry } = await startModules(
    t,
    odd(`test: () => new Promise(() => setInterval(() => {}, 1e6)),`),
  );
  const trials = registry.trialsOf("odd");

  const first = trials.test({ address: "lamp.local" });
  assert.throws(() => void trials.test({ address: "lamp.local" }), { code: "module_busy" });
  await registry.disable("odd");

  assert.equal((await first).ok, false);
});

const PAIR = `
  setup: async ({ ask, show, config }) => {
    const { address } = await ask({
      title: "Where is it?",
      form: Type.Object({ address: Type.Union([Type.Literal("lamp.local", { title: "Lamp" }), Type.Literal("other.local")]) }),
    });
    show({ title: "Press the button", text: "on the back", progress: 40 });
    const { code } = await ask({ title: "Code", form: Type.Object({ code: Type.String({ minLength: 4, writeOnly: true }) }) });
    return { address, token: code + (config.token ?? "") };
  },`;

test("a setup asks in steps and ends with stored options that start the module", async (t) => {
  const { registry, config, once, dataFolder } = await startModules(t, odd(PAIR));
  const trials = registry.trialsOf("odd");
  const asking = (title: string) =>
    until(() => trials.setup.state === "asking" && trials.setup.title === title && trials.setup);

  assert.equal(trials.beginSetup().state, "working");
  assert.throws(() => trials.beginSetup(), { code: "module_busy" });
  const where = await asking("Where is it?");
  await assert.rejects(trials.answerSetup({ step: where.step, answer: { address: "evil" } }), {
    code: "invalid",
  });
  await assert.rejects(trials.answerSetup({ step: 9, answer: {} }), /expects no answer/);
  await trials.answerSetup({ step: where.step, answer: { address: "lamp.local" } });
  const code = await asking("Code");
  await trials.answerSetup({ step: code.step, answer: { code: "12345" } });
  await once("odd", ({ state }) => state === "active");
  await until(() => trials.setup.state === "done"); // its process ends before

  assert.deepEqual(config.optionsFor("odd", undefined), { options: {}, faults: [] });
  assert.deepEqual(config.sectionOf("odd"), { address: "lamp.local" });
  assert.match(await readFile(join(dataFolder, "secrets.json"), "utf8"), /12345/);
  assert.doesNotMatch(JSON.stringify(trials.setup), /12345/);
});

test("a cancelled setup stores nothing, and another one can start", async (t) => {
  const { registry, config } = await startModules(t, odd(PAIR));
  const trials = registry.trialsOf("odd");
  trials.beginSetup();
  await until(() => trials.setup.state === "asking");
  const processes = processTreeOf(process.pid).length;

  assert.equal((await trials.cancelSetup()).state, "cancelled");

  assert.ok(processTreeOf(process.pid).length <= processes);
  assert.equal(config.hasSection("odd"), false);
  assert.equal(trials.beginSetup().state, "working");
});

test("a setup that fails or returns invalid options reports it and stores nothing", async (t) => {
  const { registry, config, edit } = await startModules(
    t,
    odd(`setup: async () => ({ address: "NOT FIT" }),`),
  );
  const trials = registry.trialsOf("odd");
  trials.beginSetup();
  const misfit = await until(() => trials.setup.state === "failed" && trials.setup);
  assert.match(misfit.error ?? "", /address/);
  assert.equal(config.hasSection("odd"), false);

  await edit("odd/index.ts", (source) =>
    source.replace(
      /setup:.*?\),/,
      `setup: async ({ show }) => { show({ title: "" }); await new Promise(() => {}); },`,
    ),
  );
  await until(() => registry.get("odd").lastReload?.trigger === "file");
  registry.trialsOf("odd").beginSetup();
  const wrong = await until(() => trials.setup.state === "failed" && trials.setup);
  assert.match(wrong.error ?? "", /title/);
});

test("a module whose section is removed waits again, without its devices", async (t) => {
  const publish = `async ({ devices }) => { await devices.publish([{ nativeId: "a", kind: "light", name: "A", capabilities: {}, state: {} }]); }`;
  const { odd: files } = odd("", publish);
  const bridge = { bridge: { kind: "odd", commandsPerSecond: 1 }, requiresConfig: true };
  const { config, devices, once } = await startModules(t, {
    odd: { ...files, "package.json": packageJson("odd", bridge) },
  });
  await config.patch({ odd: { address: "lamp.local", token: "x" } }, { admin: true });
  await once("odd", ({ state }) => state === "active");
  assert.equal(devices.list().length, 1);

  await config.patch({ odd: null }, { admin: true });
  await once("odd", ({ state }) => state === "unconfigured");

  assert.equal(devices.list().length, 0);
  await config.patch({ odd: { address: "lamp.local" } }, { admin: true });
  await once("odd", ({ state }) => state === "active");
  assert.deepEqual(
    devices.list().map(({ id }) => id),
    ["odd:light:1"],
  );
});
