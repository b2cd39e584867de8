import assert from "node:assert/strict";
import { test } from "node:test";
import { packageJson, startModules } from "../../helpers/module.ts";
import { until } from "../../helpers/until.ts";

/** A lamp that confirms each command, and a button. */
const LAMP = `
import { definePlugin } from "@mantel/plugin-sdk";
export default definePlugin({
  async start({ devices, scenes }) {
    await scenes.publish([{ nativeId: "dusk", name: "Dusk" }]);
    await devices.publish([
      { nativeId: "lamp", kind: "light", name: "Lamp", room: "Hall", capabilities: { on: { type: "boolean" } }, state: { on: false } },
      { nativeId: "lock", kind: "lock", name: "Lock", capabilities: { locked: { type: "boolean" } }, state: { locked: true } },
    ]);
    return {
      async command(nativeId, state) {
        if (state.locked === true) throw new Error("jammed");
        devices.update({ nativeId, state });
        devices.event(nativeId, "commanded");
      },
    };
  },
});
`;
const lamp = {
  "package.json": packageJson("lamp", { bridge: { kind: "lamp", commandsPerSecond: 1_000 } }),
  "index.ts": LAMP,
};
const follower = (source: string, home: object) => ({
  "package.json": packageJson("follower", { permissions: { home } }),
  "index.ts": `import { definePlugin } from "@mantel/plugin-sdk";\nexport default definePlugin({ async start({ home, log, onDispose }) {\n${source}\n} });`,
});

test("a plugin sees the changes and events of another bridge with their causes, over a reload, and commands it", async (t) => {
  const source = `
    await home.devices.on("light:*", (device, old, cause) =>
      log.info("changed", { change: [old?.state.on, device?.state.on, cause?.kind, cause?.name].join(" ") }));
    await home.events.on("*", ({ deviceId, event }) => log.info("event", { change: deviceId + " " + event }));
    const refused = await home.devices.get("lamp:lock:1").catch((error) => error.message);
    log.info("refused", { change: refused });
    // once
    void (async () => {
      for await (const { id } of home.devices.follow({ kind: "light" })) {
        const [listed] = await home.devices.list("light:*");
        if (listed?.id === id) return home.command(id, { on: true });
      }
    })();
    // end
  `;
  const { registry, commands, edit, once } = await startModules(t, {
    lamp,
    follower: follower(source, { read: ["light:*"], control: ["light:*"] }),
  });
  const heard = (sentence: string) =>
    registry
      .logs("follower")
      .filter((entry) => entry.sentence === sentence)
      .map(({ fields }) => fields?.["change"]);
  await until(() => heard("changed").includes("false true module follower"));
  await until(() => heard("event").includes("lamp:light:1 commanded"));
  assert.match(String(heard("refused")[0]), /add "home": \{"read": \["lamp:lock:1"\]\}/);
  await commands.send("lamp:lock:1", { locked: false }).done;
  await commands.send(
    "lamp:light:1",
    { on: false },
    { cause: { kind: "person", id: "2", name: "Ben" } },
  ).done;
  await until(() => heard("changed").includes("true false person Ben"));
  assert.equal(
    heard("event").some((each) => String(each).includes("lock")),
    false,
  );

  const { generation } = registry.get("follower");
  await edit("follower/index.ts", (code) => code.replace(/\/\/ once[^]*\/\/ end/, ""));
  await commands.send(
    "lamp:light:1",
    { on: true },
    { cause: { kind: "person", id: "1", name: "Anna" } },
  ).done;
  await once("follower", (view) => view.generation > generation);

  await until(() => heard("changed").includes("false true person Anna"));
  await commands.send(
    "lamp:light:1",
    { on: false },
    { cause: { kind: "person", id: "1", name: "Anna" } },
  ).done;
  await until(() => heard("changed").includes("true false person Anna"));
});

test("a plugin hears of failed commands and scenes of another bridge, without its errors", async (t) => {
  const source = `
    await home.failures.on("lock:*", ({ deviceId, command, error, cause }) =>
      log.info("heard", { what: [deviceId, JSON.stringify(command), error.code, error.detail, cause?.name].join(" ") }));
    await home.scenes.on(({ name, status, error, cause }) =>
      log.info("heard", { what: [name, status, error?.code, cause?.name].join(" ") }));
  `;
  const { registry, commands, scenes } = await startModules(t, {
    lamp,
    follower: follower(source, { read: ["lock:*", "scene:*"] }),
  });
  const heard = () =>
    registry
      .logs("follower")
      .filter(({ sentence }) => sentence === "heard")
      .map(({ fields }) => fields?.["what"]);
  const cause = { kind: "person", id: "1", name: "Anna" } as const;

  await assert.rejects(commands.send("lamp:lock:1", { locked: true }, { cause }).done, /jammed/);
  await assert.rejects(scenes.activate("lamp:scene:1", cause), /does not support scenes/);
  await until(() => heard().length === 2);

  assert.deepEqual(heard(), [
    'lamp:lock:1 {"locked":true} internal the bridge failed; see the log Anna',
    "Dusk failed invalid Anna",
  ]);
});

test("a timer continues over a reload, and one without a handler is removed", async (t) => {
  const source = `
    await schedule.every("tick", 1_000, ({ name }) => log.info("ran", { name }));
    await schedule.after("later", 3_600_000, () => undefined);
  `;
  const timer = {
    "package.json": packageJson("timer"),
    "index.ts": `import { definePlugin } from "@mantel/plugin-sdk";\nexport default definePlugin({ async start({ schedule, log }) {\n${source}\n} });`,
  };
  const { registry, edit, once } = await startModules(t, { timer });
  const count = () => registry.logs("timer").filter(({ sentence }) => sentence === "ran").length;
  await until(() => count() > 0);

  await edit("timer/index.ts", (code) => code.replace(/await schedule.after.*/, ""));
  await once("timer", ({ generation }) => generation === 2);
  const before = count();

  await until(() => count() > before + 1);
  const removed = registry
    .logs("timer")
    .filter(({ sentence }) => sentence.startsWith("removed a schedule"));
  assert.deepEqual(
    removed.map(({ fields }) => fields?.["name"]),
    ["later"],
  );
});
