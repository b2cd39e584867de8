import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { methodsOf } from "../../scripts/plugin-reference/members.ts";
import { REPOSITORY } from "./guide-home.ts";

test("the reference has what a plugin and its tests are written with", async () => {
  const page = await readFile(join(REPOSITORY, "docs/plugin-reference.md"), "utf8");
  const names = Array.from(page.matchAll(/^### .*?`(\w+)`\)?$/gm), ([, name = ""]) => name);
  const expected = [
    ...["RouteOptions", "RouteRequest", "RouteAnswer", "ServiceOptions"],
    ...["SetupContext", "SetupStep", "TrialContext", "Sources", "StorageJournal"],
    ...["CommandBeyond", "DeviceDescription", "DeviceUpdate", "SceneDescription"],
    ...["TestHostOptions", "RunningTest", "FakeHome", "FakeClock", "SetUpOptions"],
    ...["WidgetTestOptions", "TestedWidget", "OpenedWidget"],
  ];

  assert.deepEqual(
    expected.filter((name) => !names.includes(name)),
    [],
  );
});

test("the methods of a class are those with a docstring", () => {
  const source = `
export class Fake {
  /** Is not a method. */
  readonly one: string = "";
  constructor() {}
  /** Adds. */
  async add(what: Thing): Promise<void> {
    if (what) {
      return;
    }
  }
  hidden(): void {}
  #secret(): void {}
}
`;

  assert.deepEqual(methodsOf(source, "Fake"), [
    { signature: "add(what: Thing): Promise<void>", doc: "Adds." },
  ]);
});
