import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { packageJson, startModules } from "../../helpers/module.ts";
import { until } from "../../helpers/until.ts";

/** A bridge with two lamps. What it is asked is in a file, which outlasts its process. */
const LAMPS = `
import { definePlugin } from "@mantel/plugin-sdk";
import { appendFileSync } from "node:fs";
export default definePlugin({
  async start({ devices, folder }) {
    const book = folder("book") + "/asked.txt";
    await devices.publish(["one", "two"].map((nativeId) => ({
      nativeId, kind: "light", name: nativeId,
      capabilities: { on: { type: "boolean" }, effect: { type: "choice", values: ["die", "loop"] } }, state: { on: false },
    })));
    return {
      async command(nativeId, command, commandId) {
        appendFileSync(book, commandId + "\\n");
        if (command["effect"] === "die") process.kill(process.pid, "SIGKILL");
        if (command["effect"] === "loop") for (;;);
        devices.update({ nativeId, state: command });
      },
    };
  },
});
`;
const manifest = {
  bridge: { kind: "test", commandsPerSecond: 500, confirmMs: 20_000 },
  permissions: { folders: ["book"] },
};
const lamps = { "package.json": packageJson("lamps", manifest), "index.ts": LAMPS };

test("a command begun before the bridge crashed is answered as unknown and not repeated", async (t) => {
  const { commands, dataFolder } = await startModules(t, { lamps });

  const { done, commandId } = commands.send("test:light:1", { effect: "die" });
  await assert.rejects(done, { code: "outcome_unknown" });
  const next = commands.send("test:light:1", { on: true });
  await next.done;

  assert.deepEqual(await asked(dataFolder), [commandId, next.commandId]);
});

test("commands that a hung bridge had not begun are executed once by the next process", async (t) => {
  const { commands, dataFolder, devices } = await startModules(t, { lamps });

  const hanging = commands.send("test:light:1", { effect: "loop" });
  await until(async () => (await asked(dataFolder)).includes(hanging.commandId));
  const innocent = commands.send("test:light:2", { on: true });

  await assert.rejects(hanging.done, { code: "outcome_unknown" });
  await innocent.done;
  assert.deepEqual(await asked(dataFolder), [hanging.commandId, innocent.commandId]);
  assert.equal(devices.get("test:light:2").state["on"], true);
});

test("a short crash only delays commands and is not visible in the devices", async (t) => {
  const { commands, bus, once } = await startModules(t, { lamps });
  await commands.send("test:light:1", { on: true }).done;
  const news: string[] = [];
  t.after(
    bus.on(({ topic, data }) => {
      if (topic === "device.removed" || topic === "device.added") news.push(topic);
      if (topic === "device.state") news.push(`${data.device.id} ${data.device.available}`);
    }),
  );

  await commands.send("test:light:1", { effect: "die" }).done.catch(() => undefined);
  const during = commands.send("test:light:2", { on: true });
  await during.done;
  await once("lamps", ({ state }) => state === "active");

  assert.deepEqual(
    news.filter((each) => !/^test:light:\d true$/.test(each)),
    [],
  );
});

test("a bridge that stays down is reported, and calls to it do not wait", async (t) => {
  const { commands, devices, registry, once } = await startModules(t, { lamps });

  await commands.send("test:light:1", { effect: "die" }).done.catch(() => undefined);
  await once("lamps", ({ restarts }) => restarts === 1);
  await commands.send("test:light:1", { effect: "die" }).done.catch(() => undefined);
  await once("lamps", ({ restarts }) => restarts === 2);
  await until(() => !devices.get("test:light:1").available);

  await assert.rejects(commands.send("test:light:1", { on: true }).done, { code: "bridge_down" });
  assert.notEqual(registry.get("lamps").state, "active");
  await once("lamps", ({ state }) => state === "active");
  assert.equal(devices.get("test:light:1").available, true);
});

async function asked(dataFolder: string): Promise<string[]> {
  const text = await readFile(join(dataFolder, "book/asked.txt"), "utf8").catch(() => "");
  return text.trim().split("\n");
}
