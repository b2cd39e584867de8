import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOf, troublesOf } from "../../../host/dashboard/troubles.ts";
import { ModuleStatus } from "../../../host/modules/status.ts";
import { limitsOf, type ModuleView } from "../../../host/modules/view.ts";

const FAULT = { message: "boom", file: "index.ts", line: 8, column: 3, frame: "> 8 | boom" };

function view(change: Partial<ModuleView>): ModuleView {
  const manifest = { id: "lamp", kinds: ["bridge" as const], title: "Lamp" };
  const owner = { changed: () => undefined, widget: () => null, limitsOf: () => limitsOf({}) };
  const status = new ModuleStatus({ id: "lamp", folder: "", version: "1.0.0", manifest }, owner);
  return { ...status.view, state: "active", ...change };
}

type Trigger = "file" | "config" | "rollback";

const reloaded = (result: "reloaded" | "rolled_back", trigger: Trigger = "file") => ({
  ...{ at: "2026-01-01T00:00:00Z", trigger, result, durationMs: 1, downtimeMs: 0 },
  ...(result === "rolled_back" ? { error: FAULT } : {}),
});

test("a module that went back is a trouble with its place and frame, until a reload succeeds", () => {
  const back = troublesOf([view({ lastReload: reloaded("rolled_back") })]);
  const mended = troublesOf([view({ lastReload: reloaded("reloaded") })]);

  assert.deepEqual(back, [
    {
      ...{ name: "Lamp", effect: "runs the code before", message: "boom" },
      ...{ place: "index.ts:8", frame: "> 8 | boom" },
    },
  ]);
  assert.deepEqual(mended, []);
});

test("a roll-back that was asked for is no trouble, however it went", () => {
  const lastReload = reloaded("rolled_back", "rollback");

  assert.deepEqual(troublesOf([view({ lastReload })]), []);
});

test("a module that does not run is a trouble, one that is not configured is none", () => {
  const [failed] = troublesOf([view({ state: "failed", error: { message: "no" } })]);
  const unconfigured = troublesOf([view({ state: "unconfigured", error: { message: "no" } })]);

  assert.deepEqual([failed?.effect, failed?.place], ["does not run", undefined]);
  assert.deepEqual(unconfigured, []);
});

test("of a degraded module both are said: what it cannot reach, and what is wrong on the disk", () => {
  const away = { message: "the lamp is away" };
  const lastReload = reloaded("rolled_back");

  assert.deepEqual(faultsOf(view({ state: "degraded", error: away, lastReload })), [away, FAULT]);
  assert.deepEqual(faultsOf(view({ lastReload })), [FAULT]);
  assert.deepEqual(faultsOf(view({ state: "disabled", error: away, lastReload })), [away]);
  assert.deepEqual(faultsOf(view({ lastReload: reloaded("reloaded") })), []);
});
