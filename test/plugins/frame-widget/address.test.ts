import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOf } from "../../../plugins/frame-widget/widget/address.ts";

const OWN = "http://127.0.0.1:8470";

test("only http and https pages are shown", () => {
  assert.equal(addressOf(" https://example.org/a?b ", OWN).url?.href, "https://example.org/a?b");
  for (const text of ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "example"]) {
    assert.equal(addressOf(text, OWN).fault, "unreadable", text);
  }
  assert.equal(addressOf("", OWN).fault, "none");
});

test("Mantel does not show itself, because its own origin would open the sandbox", () => {
  assert.equal(addressOf(`${OWN}/#lights`, OWN).fault, "own");
  assert.equal(addressOf("http://127.0.0.1:8471/", OWN).fault, undefined);
});
