import assert from "node:assert/strict";
import { test } from "node:test";
import { packageJson, startModules } from "../../helpers/module.ts";
import { until } from "../../helpers/until.ts";

const LAMP = `
import { definePlugin, Type, calendarEvents, provide } from "@mantel/plugin-sdk";
export default definePlugin({
  state: Type.Object({ count: Type.Integer() }),
  async start({ devices, handedOver }) {
    let count = handedOver?.count ?? 0;
    await devices.publish([{
      nativeId: "lamp", kind: "light", name: "Lamp", state: { on: false, count },
      capabilities: { on: { type: "boolean" }, count: { type: "number", readOnly: true } },
    }]);
    return {
      async command(nativeId) { devices.update({ nativeId, state: { count: ++count } }); },
      services: [provide(calendarEvents, () => new Promise(() => undefined))],
      handOver: () => ({ count }),
    };
  },
});
`;
const lamp = {
  "package.json": packageJson("lamp", {
    bridge: { kind: "test", commandsPerSecond: 50 },
    provides: ["calendar.events"],
    limits: { memoryMiB: 48, callMs: 5_000 },
  }),
  "index.ts": LAMP,
};
const ADMIN = { admin: true };

test("limits come from the config, else the manifest, else the defaults", async (t) => {
  const { registry, config, once } = await startModules(t, { lamp });
  const usual = {
    storageMiB: 256,
    cpuPercent: 80,
    startMs: 10_000,
    quiesceMs: 2_000,
    queueLength: 100,
  };
  assert.deepEqual(registry.get("lamp").limits, { ...usual, memoryMiB: 48, callMs: 5_000 });

  await config.patch({ modules: { lamp: { limits: { memoryMiB: 96, callMs: 100 } } } }, ADMIN);
  const changed = await once("lamp", ({ generation }) => generation === 2);
  assert.deepEqual(changed.limits, { ...usual, memoryMiB: 96, callMs: 100 });

  await config.patch({ modules: { lamp: null } }, ADMIN);
  const back = await once("lamp", ({ generation }) => generation === 3);
  assert.deepEqual(back.limits, { ...usual, memoryMiB: 48, callMs: 5_000 });
});

const WINDOW = { start: "2026-11-20T00:00:00Z", end: "2026-11-21T00:00:00Z" };

test("changed limits apply through a handover, with the state", async (t) => {
  const { commands, devices, services, config, once } = await startModules(t, { lamp });
  await commands.send("test:light:1", { on: true }).done;

  await config.patch({ modules: { lamp: { limits: { callMs: 100 } } } }, ADMIN);
  const { restarts } = await once("lamp", ({ generation }) => generation === 2);

  assert.equal(restarts, 0);
  // the time that the call waited for the handover counts
  await assert.rejects(
    services.call("calendar.events", WINDOW),
    /callService timed out after (\d\d?|100) ms/,
  );
  await commands.send("test:light:1", { on: true }).done;
  assert.equal(devices.get("test:light:1").state["count"], 2);
});

test("calls beyond a lower queue length are refused", async (t) => {
  const { services, config, once, registry } = await startModules(t, { lamp });
  await config.patch({ modules: { lamp: { limits: { queueLength: 1, callMs: 200 } } } }, ADMIN);
  await once("lamp", ({ generation }) => generation === 2);

  const calls = await Promise.allSettled(
    [1, 2, 3].map(() => services.call("calendar.events", WINDOW)),
  );

  const codes = calls.map(
    (call) => call.status === "rejected" && (call.reason as { code: string }).code,
  );
  assert.deepEqual(codes, ["deadline_passed", "module_down", "module_down"]);
  assert.equal(registry.work().find(({ id }) => id === "lamp")?.drops, 2);
});

test("an impossible limit is refused with its location", async (t) => {
  const { config } = await startModules(t, { lamp });

  const patch = config.patch({ modules: { lamp: { limits: { memoryMiB: 1 } } } }, ADMIN);

  await assert.rejects(patch, { code: "invalid" });
});

test("a stopped module starts again when its limits change", async (t) => {
  const slow = LAMP.replace(
    "await devices",
    "await new Promise((go) => setTimeout(go, 600)); await devices",
  );
  const { config, once, registry } = await startModules(t, {
    lamp: {
      "package.json": packageJson("lamp", {
        bridge: { kind: "test", commandsPerSecond: 50 },
        limits: { startMs: 300 },
      }),
      "index.ts": slow,
    },
  });
  assert.equal(registry.get("lamp").state, "failed");

  await config.patch({ modules: { lamp: { limits: { startMs: 5_000 } } } }, ADMIN);

  await once("lamp", ({ state }) => state === "active");
  await until(() => registry.get("lamp").limits.startMs === 5_000);
});
