import assert from "node:assert/strict";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { ModuleView } from "../../host/api/module.ts";
import { startHost } from "../helpers/host.ts";
import { copyOfHost } from "../helpers/repository.ts";
import { until } from "../helpers/until.ts";

test("a save in a part of the SDK reloads the modules that it is bundled with", async (t) => {
  const plugins = ["plugins/energy-widget", "plugins/mqtt", "plugins/clock-widget"];
  const repository = await copyOfHost(t, plugins);
  const host = await startHost(t, { repository, plugins });
  const module = async (id: string) =>
    (await (await host.api(`/modules/${id}`)).json()) as ModuleView;
  const save = (file: string) =>
    appendFile(join(repository, "plugin-sdk", file), "\nObject.keys(globalThis);\n");
  const next = async (id: string) => (await module(id)).generation === 2;

  await save("ui/figure-card.ts");
  await until(() => next("energy-widget"), { withinMs: 10_000 });
  assert.equal((await module("mqtt")).generation, 1);
  await save("mqtt/client.ts");
  await until(() => next("mqtt"), { withinMs: 10_000 });

  assert.deepEqual((await module("mqtt")).lastReload?.trigger, "file");
  assert.equal((await module("energy-widget")).generation, 2);
  assert.equal((await module("clock-widget")).generation, 1);
});
