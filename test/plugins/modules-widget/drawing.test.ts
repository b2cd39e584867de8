import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModuleView } from "../../../host/api/module.ts";
import { mountOnPage } from "../../helpers/page/widget.ts";

const { default: modules } = await import("../../../plugins/modules-widget/widget.ts");

const CLOCK = moduleOf("Clock", { resources: { memoryBytes: 3 * 2 ** 20 } });
const WEATHER = moduleOf("Weather", { state: "degraded", error: { message: "no forecast" } });
const HUE = moduleOf("Hue", { state: "loading", progress: "installing" });

test("modules with problems come first with the reason, and alone if the settings say so", (t) => {
  const { config, textOf } = mountOnPage(t, modules, { modules: [CLOCK, WEATHER, HUE] });
  const all = textOf("li");

  config.value = { onlyTroubles: true };

  assert.deepEqual(all, [
    "Weather degraded no forecast",
    "Clock running 3 MiB",
    "Hue starting installing",
  ]);
  assert.deepEqual(textOf("li"), ["Weather degraded no forecast"]);
  assert.deepEqual(textOf(".note"), ["1 problem"]);
});

test("modules without problems say so", (t) => {
  const { textOf } = mountOnPage(t, modules, { modules: [CLOCK], config: { onlyTroubles: true } });

  assert.deepEqual(textOf(".note, .empty"), ["no problems", "All modules are running."]);
});

function moduleOf(name: string, change: object): ModuleView {
  const rest = { state: "active", error: null, progress: null, resources: { memoryBytes: null } };
  return { id: name, name, ...rest, ...change } as ModuleView;
}
