import assert from "node:assert/strict";
import { test } from "node:test";
import { mountOnPage } from "../../helpers/page/widget.ts";

const { default: note } = await import("../../../plugins/note-widget/widget.ts");

test("a note shows its title and text as plain text, in the chosen size", (t) => {
  const text = "<b>Bedtime</b> at eight.";
  const { config, root, textOf } = mountOnPage(t, note);
  const empty = textOf("h2, p");

  config.value = { title: "Sitter", text, size: "large" };

  assert.deepEqual(empty, ["Enter a text in the settings of this tile."]);
  assert.deepEqual(textOf("h2, p"), ["Sitter", text]);
  assert.equal(root.querySelector("section")?.className, "card large");
});
