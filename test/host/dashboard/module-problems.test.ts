import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModuleView } from "../../../host/api/module.ts";
import { faultsOf, moduleProblems } from "../../../host/dashboard/module-problems.ts";
import { limitsOf } from "../../../host/modules/manifest/limits.ts";
import { ModuleStatus } from "../../../host/modules/state/status.ts";

const FAULT = { message: "boom", file: "index.ts", line: 8, column: 3, frame: "> 8 | boom" };

function view(change: Partial<ModuleView>): ModuleView {
  const manifest = { id: "lamp", kinds: ["bridge" as const], title: "Lamp" };
  const confinement = { level: "kernel", network: "none", reason: null } as const;
  const owner = {
    changed: () => undefined,
    widget: () => null,
    limitsOf: () => limitsOf({}),
    confinementOf: () => confinement,
  };
  const status = new ModuleStatus({ id: "lamp", folder: "", version: "1.0.0", manifest }, owner);
  return { ...status.view, state: "active", ...change };
}

type Trigger = "file" | "config" | "rollback";

const reloaded = (result: "reloaded" | "rolled_back", trigger: Trigger = "file") => ({
  at: "2026-01-01T00:00:00Z",
  trigger,
  result,
  durationMs: 1,
  downtimeMs: 0,
  ...(result === "rolled_back" ? { error: FAULT } : {}),
});

test("a rolled-back module is a problem with location and frame, until a reload succeeds", () => {
  const back = moduleProblems([view({ lastReload: reloaded("rolled_back") })]);
  const mended = moduleProblems([view({ lastReload: reloaded("reloaded") })]);

  assert.deepEqual(back, [
    {
      name: "Lamp",
      effect: "runs the previous version",
      message: "boom",
      place: "index.ts:8",
      frame: "> 8 | boom",
    },
  ]);
  assert.deepEqual(mended, []);
});

test("a requested rollback is not shown as a problem, whatever its result", () => {
  const lastReload = reloaded("rolled_back", "rollback");

  assert.deepEqual(moduleProblems([view({ lastReload })]), []);
});

test("a module that does not run is a problem, an unconfigured one is not", () => {
  const [failed] = moduleProblems([view({ state: "failed", error: { message: "no" } })]);
  const unconfigured = moduleProblems([view({ state: "unconfigured", error: { message: "no" } })]);

  assert.deepEqual([failed?.effect, failed?.place], ["is not running", undefined]);
  assert.deepEqual(unconfigured, []);
});

test("a degraded module shows both the unreachable device and the fault on the disk", () => {
  const away = { message: "the lamp is away" };
  const lastReload = reloaded("rolled_back");

  assert.deepEqual(faultsOf(view({ state: "degraded", error: away, lastReload })), [away, FAULT]);
  assert.deepEqual(faultsOf(view({ lastReload })), [FAULT]);
  assert.deepEqual(faultsOf(view({ state: "disabled", error: away, lastReload })), [away]);
  assert.deepEqual(faultsOf(view({ lastReload: reloaded("reloaded") })), []);
});
