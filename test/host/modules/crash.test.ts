import assert from "node:assert/strict";
import { uptime } from "node:os";
import { test } from "node:test";
import { findPluginProcesses } from "../../../scripts/bench/bench-home.ts";
import { packageJson, startModules } from "../../helpers/module.ts";
import { runningProcesses } from "../../helpers/processes.ts";
import { until } from "../../helpers/until.ts";

/** Of the times in `/proc`: proc(5). */
const TICKS_PER_SECOND = 100;
/** Before the first restart: a second, less its jitter. */
const SHORTEST_DELAY_S = 0.8;

/** A bridge with one lamp whose commands can be told to do harm. */
const LAMP = `
import { definePlugin, Type } from "@mantel/plugin-sdk";
import { spawn } from "node:child_process";

const harm: Record<string, () => void> = {
  exit: () => process.exit(1),
  loop: () => { for (;;); },
  "throw in a timer": () => { setTimeout(() => { throw new Error("late"); }); },
  "leave a child": () => { spawn("sleep", ["631"], { stdio: "ignore" }); process.exit(1); },
  "let go of a child": () => {
    spawn("sleep", ["15"], { detached: true, stdio: "inherit" });
    process.exit(1);
  },
};

export default definePlugin({
  async start({ devices }) {
    await devices.publish([{
      nativeId: "lamp", kind: "light", name: "Lamp",
      capabilities: { on: { type: "boolean" }, effect: { type: "choice", values: Object.keys(harm) } },
      state: { on: false },
    }]);
    return {
      async command(nativeId, command) {
        harm[String(command["effect"])]?.();
        devices.update({ nativeId, state: command });
      },
    };
  },
});
`;
const lamp = {
  "package.json": packageJson("lamp", {
    bridge: { kind: "test", commandsPerSecond: 50, confirmMs: 500 },
    permissions: { childProcesses: true },
  }),
  "index.ts": LAMP,
};

for (const harm of ["exit", "loop", "throw in a timer"]) {
  test(`a bridge that does "${harm}" is reported as crashed and restarted`, async (t) => {
    const { registry, commands, devices, once } = await startModules(t, { lamp });

    const command = commands.send("test:light:1", { effect: harm });
    await command.done.catch(() => undefined);
    const crashed = await once("lamp", ({ restarts }) => restarts === 1, 10_000);
    assert.equal(crashed.state, "loading");
    assert.ok(crashed.error?.message);
    if (harm === "throw in a timer") assert.equal(crashed.error?.file, "index.ts");
    assert.equal(devices.get("test:light:1").available, true, "calls wait for it");

    await once("lamp", ({ state }) => state === "active", 10_000);
    await commands.send("test:light:1", { on: true }).done;
    assert.equal(devices.get("test:light:1").state["on"], true);
    assert.equal(devices.get("test:light:1").available, true);
    assert.equal(registry.get("lamp").generation, 2);
  });
}

test("the process for a restart is prepared during the restart delay", async (t) => {
  const { commands, once } = await startModules(t, { lamp });

  await commands.send("test:light:1", { effect: "exit" }).done.catch(() => undefined);
  await once("lamp", ({ restarts }) => restarts === 1);
  const seconds = uptime();
  await once("lamp", ({ state }) => state === "active", 10_000);

  const [pid] = await findPluginProcesses(process.pid, "lamp");
  const next = runningProcesses().find((each) => each.pid === pid);
  assert.ok(next);
  const preparedAfter = next.startedAt / TICKS_PER_SECOND - seconds;
  assert.ok(
    preparedAfter < SHORTEST_DELAY_S,
    `prepared ${preparedAfter.toFixed(2)} s after the crash`,
  );
});

test("child processes end with the plugin process that started them", async (t) => {
  const { commands, once } = await startModules(t, { lamp });
  const { execFileSync } = await import("node:child_process");
  // Seconds that no other test sleeps.
  const sleepers = () =>
    execFileSync("ps", ["-eo", "args"])
      .toString()
      .match(/^sleep 631$/gm) ?? [];

  await commands.send("test:light:1", { effect: "leave a child" }).done.catch(() => undefined);
  await once("lamp", ({ restarts }) => restarts === 1);

  await until(() => sleepers().length === 0);
});

test("a detached child process that holds the output does not delay the end", async (t) => {
  const { commands, once, registry } = await startModules(t, { lamp });

  await commands.send("test:light:1", { effect: "let go of a child" }).done.catch(() => undefined);
  await once("lamp", ({ restarts }) => restarts === 1);

  await once("lamp", ({ state }) => state === "active");
  assert.match(registry.logs("lamp")[0]?.fields?.["message"] as string, /exited with code 1/);
});

test("five crashes put a module into quarantine until it is reloaded", async (t) => {
  const crashing = LAMP.replace(
    "return {",
    "if (process.uptime() < 99) setTimeout(() => process.exit(7), 20); return {",
  );
  const { registry, once, write } = await startModules(t, {
    lamp: { ...lamp, "index.ts": crashing },
  });

  const rests = await once("lamp", ({ state }) => state === "quarantined", 40_000);
  assert.match(rests.error?.message ?? "", /crashed too often.*code 7/);

  await write("lamp/index.ts", LAMP);
  await once("lamp", ({ state }) => state === "active");
  assert.equal(registry.get("lamp").error, null);
});

test("new code that crashes during its probation is rolled back", async (t) => {
  const { commands, devices, once, write, registry } = await startModules(t, { lamp });
  await commands.send("test:light:1", { on: true }).done;

  await write(
    "lamp/index.ts",
    LAMP.replace("return {", "setTimeout(() => process.exit(9), 50); return {"),
  );
  const back = await once("lamp", ({ lastReload }) => lastReload?.result === "rolled_back");

  assert.equal(back.lastReload?.trigger, "crash");
  assert.match(back.lastReload?.error?.message ?? "", /code 9/);
  assert.equal(registry.get("lamp").state, "active");
  await commands.send("test:light:1", { on: true }).done;
  assert.equal(devices.get("test:light:1").available, true);
});

test("new code that crashes after its probation is restarted, not rolled back", async (t) => {
  const { commands, devices, once, edit } = await startModules(t, { lamp });
  await edit("lamp/index.ts", (source) => source.replace('name: "Lamp"', 'name: "Floor lamp"'));
  await once("lamp", ({ lastReload }) => lastReload?.result === "reloaded");
  const now = performance.now.bind(performance);
  t.mock.method(performance, "now", () => now() + 10_000);

  await commands.send("test:light:1", { effect: "exit" }).done.catch(() => undefined);
  await once("lamp", ({ restarts }) => restarts === 1);
  const { lastReload } = await once("lamp", ({ state }) => state === "active");

  assert.equal(lastReload?.result, "reloaded");
  assert.equal(devices.get("test:light:1").name, "Floor lamp");
});

test("the status of a module says how much of the CPU it uses", async (t) => {
  const busy = LAMP.replace(
    "return {",
    "setInterval(() => { for (const end = Date.now() + 50; Date.now() < end; ); }, 100); return {",
  );
  const { once } = await startModules(t, { lamp: { ...lamp, "index.ts": busy } });

  await once("lamp", ({ resources }) => (resources.cpuPercent ?? 0) > 5, 10_000);
});
