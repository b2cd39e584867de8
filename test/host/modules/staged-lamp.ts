// A module without a real process, for tests of a module's life cycle.

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { MantelError } from "@mantel/plugin-sdk/errors";
import type { Module } from "../../../host/modules/lifecycle/module.ts";
import { manifest, type Stage, stageModules } from "../../helpers/stage-modules.ts";

export const answering = (answer: string, more = "") =>
  `export const callService = () => "${answer}";\n${more}`;
export const FAILS = 'export const start = () => { throw new Error("no start"); };';
export const PROVIDES = { provides: ["broker.address"] };

export const ask = (module: Module) =>
  module.call("callService", { name: "broker.address", input: {} }, 1_000);
export const sentences = ({ log }: Module) => log.find({}).map(({ sentence }) => sentence);
export const failure = (code: string, message: RegExp) => (error: MantelError) => {
  assert.equal(error.code, code);
  assert.match(error.message, message);
  return true;
};

/** A stage with one module that runs. */
export async function openLamp(
  t: TestContext,
  source = answering("one"),
  mantel: object = PROVIDES,
) {
  const stage = await stageModules(t);
  const lamp = await stage.add("lamp", {
    "package.json": manifest("lamp", mantel),
    "index.ts": source,
  });
  await lamp.start();
  /** Saves the plugin's code, and reloads it as after a file event. */
  const save = (text: string) => stage.write("lamp/index.ts", text).then(() => lamp.reload("file"));
  return { ...stage, lamp, save };
}

/** The same home at the host's next start, before its module starts. */
export async function restartHost(t: TestContext, { home, config, compiler, consents }: Stage) {
  await Promise.all([config.close(), compiler.close(), consents.close()]);
  const stage = await stageModules(t, { home });
  return { ...stage, lamp: await stage.open("lamp") };
}
