import assert from "node:assert/strict";
import { test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { buildWidget } from "../../../host/assets/build-widget.ts";
import { folderWith } from "../../helpers/folder.ts";

const NOT_A_WIDGET =
  'the default export is not a widget: write "export default defineWidget({ ... })"';
for (const [what, statement] of [
  ["an empty object", "export default {};"],
  ["an object without mount", 'const lamp = { name: "Lamp" };\nexport { lamp as default };'],
  ["a definition without mount", 'export default defineWidget({ name: "Lamp" });'],
  ["a class", "export default class Lamp { mount() {} }"],
  ["a function", "export default function mount() {}"],
] as const) {
  test(`a widget whose default export is ${what} is refused with the line`, async (t) => {
    const imports = 'import { defineWidget } from "@mantel/plugin-sdk/widget";\n';
    const folder = await folderWith(t, { "widget.ts": imports + statement });

    const error = await buildWidget({ id: "x", folder, entry: "widget.ts" }).catch(
      (thrown: MantelError) => thrown,
    );

    assert.ok(error instanceof MantelError);
    assert.deepEqual([error.code, error.message], ["reload_failed", NOT_A_WIDGET]);
    const { file, line } = error.extras.location ?? {};
    assert.deepEqual([file, line], ["widget.ts", 2]);
  });
}

test("a widget without a default export is refused", async (t) => {
  const folder = await folderWith(t, { "widget.ts": "export const name = 1;" });

  await assert.rejects(buildWidget({ id: "x", folder, entry: "widget.ts" }), {
    code: "reload_failed",
    message: /^the default export of the widget is missing: write "export default defineWidget/,
  });
});

for (const [what, source] of [
  ["written with a quoted name", 'export default { "mount": () => ({}) };'],
  ["of another file", 'export { default } from "./lamp.ts";'],
  ["made by a function", "const make = () => ({ mount() {} });\nexport default make();"],
  ["completed later", "const lamp = {};\nlamp.mount = () => undefined;\nexport default lamp;"],
  ["put together", "const lamp = { mount() {} };\nexport default { ...lamp };"],
] as const) {
  test(`a widget may be ${what}`, async (t) => {
    const lamp = "export default { mount() {} };";
    const folder = await folderWith(t, { "widget.ts": source, "lamp.ts": lamp });

    const { code } = await buildWidget({ id: "x", folder, entry: "widget.ts" });

    assert.match(code, /mount/);
  });
}
