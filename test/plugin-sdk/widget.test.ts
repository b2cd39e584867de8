import assert from "node:assert/strict";
import { test } from "node:test";

// Imported as a mere string: its types are those of the browser, and these tests run on Node.
// oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- the type would be that of the file
const { defineWidget } = (await import("../../plugin-sdk/widget.ts" as string)) as {
  defineWidget: (definition: object) => object;
};

test("defineWidget returns the definition unchanged", () => {
  const definition = { name: "Clock", size: { default: [2, 2] }, mount: () => undefined };

  assert.equal(defineWidget(definition), definition);
});
