import assert from "node:assert/strict";
import { test } from "node:test";
import { attachDebugger } from "../../helpers/debugger.ts";
import { freePort } from "../../helpers/free-port.ts";
import { packageJson, startModules } from "../../helpers/module.ts";
import { until } from "../../helpers/until.ts";

const ANSWERS = `
import { definePlugin, brokerAddress, provide } from "@mantel/plugin-sdk";
export default definePlugin({
  start: () => ({ services: [provide(brokerAddress, async () => ({ url: "first" }))] }),
});
`;
const answering = {
  "package.json": packageJson("answering", { provides: ["broker.address"] }),
  "index.ts": ANSWERS,
};

test("a debugger attaches to the same port across reloads and sees TypeScript", async (t) => {
  const port = await freePort();
  const { config, edit, once: wait, registry } = await startModules(t, { answering });

  await config.patch({ modules: { answering: { inspect: port } } }, { admin: true });
  await wait("answering", ({ lastReload }) => lastReload?.trigger === "config");
  const before = await attachDebugger(t, port);
  before.send("Debugger.enable");
  await until(() => /"sourceMapURL":"[0-9a-f]+\.cjs\.map"/.test(before.received()));
  await edit("answering/index.ts", (source) => source.replace("first", "second"));
  await wait("answering", ({ lastReload }) => lastReload?.trigger === "file");
  const after = await attachDebugger(t, port);
  after.send("Runtime.evaluate", { expression: "process.pid" });

  await until(() => /"type":"number","value":\d+/.test(after.received()));
  assert.ok(
    registry.logs("answering").some(({ sentence }) => sentence.includes(`ws://127.0.0.1:${port}/`)),
  );

  await config.patch({ modules: { answering: { inspect: null } } }, { admin: true });
  await until(() =>
    fetch(`http://127.0.0.1:${port}/json/list`).then(
      () => false,
      () => true,
    ),
  );
});

test("a module paused by a debugger is not ended, and continues where it stopped", async (t) => {
  const port = await freePort();
  const { config, services, once: wait, registry } = await startModules(t, { answering });
  await config.patch({ modules: { answering: { inspect: port } } }, { admin: true });
  await wait("answering", ({ lastReload }) => lastReload?.trigger === "config");
  const { pid } = await attachedTo(port);

  const editor = await attachDebugger(t, port);
  editor.send("Debugger.enable");
  editor.send("Runtime.evaluate", { expression: "setTimeout(() => { debugger; }, 100)" });
  await until(() => editor.received().includes('"Debugger.paused"'));
  for (let asked = 0; asked < 7; asked++) {
    await assert.rejects(services.call("broker.address", {}, 1_000), { code: "deadline_passed" });
  }
  editor.send("Debugger.resume");
  const answer = await until(() => services.call("broker.address", {}, 1_000));

  assert.deepEqual(answer, { url: "first" });
  assert.equal(registry.get("answering").restarts, 0);
  assert.equal((await attachedTo(port)).pid, pid);
});

/** The process that listens at a port, as its title tells. */
async function attachedTo(port: number): Promise<{ pid: string }> {
  const list = await fetch(`http://127.0.0.1:${port}/json/list`);
  const [target] = (await list.json()) as { title: string }[];
  return { pid: target?.title ?? "" };
}

test("if code does not start, the debugger's port stays with the previous code", async (t) => {
  const port = await freePort();
  const { config, write, once: wait } = await startModules(t, { answering });
  await config.patch({ modules: { answering: { inspect: port } } }, { admin: true });
  await wait("answering", ({ lastReload }) => lastReload?.trigger === "config");

  await write(
    "answering/index.ts",
    ANSWERS.replace(
      "() => ({ services",
      "() => { throw new Error('no'); return ({ services",
    ).replace("}) } }),", "}) } }); },"),
  );
  await wait("answering", ({ lastReload }) => lastReload?.result === "rolled_back");

  const editor = await attachDebugger(t, port);
  editor.send("Runtime.evaluate", { expression: "process.pid" });
  await until(() => editor.received().includes('"type":"number"'));
});

test("only an admin can enable a debugger", async (t) => {
  const { config } = await startModules(t, { answering });

  await assert.rejects(
    config.patch({ modules: { answering: { inspect: 9229 } } }, { admin: false }),
    { code: "config_key_not_allowed" },
  );
});

const FAULTY = `
import { definePlugin, mqttPublish, provide } from "@mantel/plugin-sdk";
import { raise } from "raiser";

interface Fault { readonly kind: string }

export default definePlugin({
  start() {
    console.debug("one");
    console.log("two %d", 2);
    console.warn("three");
    console.error(new Error("four"));
    process.stderr.write("five\\n");
    return {
      services: [provide(mqttPublish, async ({ topic }) => {
          const fault: Fault = { kind: topic };
          if (fault.kind === "call") throw new Error("in a call");
          if (fault.kind === "package") raise();
          setTimeout(() => { throw new Error("in a timer"); }, 1);
        })],
    };
  },
});
`;
const faulty = {
  "package.json": packageJson("faulty", { provides: ["mqtt.publish"] }),
  "index.ts": FAULTY,
  "node_modules/raiser/package.json": '{ "name": "raiser", "main": "index.js" }',
  "node_modules/raiser/index.js": 'exports.raise = () => { throw new Error("in a package"); };',
};
const lineOf = (part: string): number =>
  FAULTY.split("\n").findIndex((line) => line.includes(part)) + 1;

test("a plugin's console output is in its log, with the level", async (t) => {
  const { registry } = await startModules(t, { faulty });

  const printed = await until(() => {
    const records = registry
      .logs("faulty")
      .map(({ level, sentence }) => [level, sentence] as const);
    return (
      records.length >= 5 &&
      new Map(records.map(([level, sentence]) => [sentence.split("\n")[0], { level, sentence }]))
    );
  });

  assert.deepEqual(
    ["one", "two 2", "three", "Error: four", "five"].map((line) => printed.get(line)?.level),
    ["debug", "info", "warn", "error", "warn"],
  );
  assert.match(
    printed.get("Error: four")?.sentence ?? "",
    new RegExp(`faulty/index\\.ts:${lineOf("four")}:`),
  );
});

for (const [fault, part] of [
  ["call", "in a call"],
  ["package", "raise();"],
  ["timer", "in a timer"],
] as const) {
  test(`an error in a ${fault} is logged with its line of the TypeScript source`, async (t) => {
    const { registry, services } = await startModules(t, { faulty });
    const place = new RegExp(`faulty/index\\.ts:${lineOf(part)}:`);

    const input = { topic: fault, payload: "", qos: 0, retain: false };
    await services.call("mqtt.publish", input).catch(() => undefined);

    await until(() =>
      registry.logs("faulty", { level: "warn" }).some((entry) => place.test(JSON.stringify(entry))),
    );
    if (fault === "timer") {
      await until(() => registry.get("faulty").error?.line === lineOf(part));
      assert.match(registry.get("faulty").error?.frame ?? "", /> .*in a timer/);
    }
  });
}
