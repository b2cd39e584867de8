import assert from "node:assert/strict";
import { test } from "node:test";
import "../../helpers/page/light-dom.ts";
import { CodeNotLoaded } from "../../../host/dashboard/code-not-loaded.ts";
import { WidgetErrors } from "../../../host/dashboard/widget-errors.ts";

const HASH = "0123456789abcdef";

/** The reports that reach the host. */
function openErrors() {
  const sent: { path: string; body: unknown }[] = [];
  const errors = new WidgetErrors({
    send: async <T>(_method: string, path: string, body?: unknown) => {
      sent.push({ path, body });
      return undefined as T;
    },
  });
  return { errors, sent };
}

function errorOf(message: string, stack = ""): Error {
  return Object.assign(new Error(message), { stack });
}

test("an error is reported once, with the hash of its code", () => {
  const { errors, sent } = openErrors();

  for (const _ of [1, 2]) errors.report("lamp", HASH, errorOf("no level", "at blob:x:1:2"));
  errors.report("lamp", HASH, "a text");

  const path = "/modules/lamp/widget-errors";
  assert.deepEqual(sent, [
    { path, body: { hash: HASH, message: "no level", stack: "at blob:x:1:2" } },
    { path, body: { hash: HASH, message: "a text", stack: "" } },
  ]);
});

test("code that could not be loaded is not an error of the widget", () => {
  const { errors, sent } = openErrors();

  errors.report("lamp", HASH, new CodeNotLoaded());

  assert.deepEqual(sent, []);
});

test("at most twenty errors of one version are reported, within the bounds of the host", () => {
  const { errors, sent } = openErrors();

  errors.report("lamp", HASH, errorOf("x".repeat(2_000), "y".repeat(20_000)));
  for (let count = 0; count < 50; count++) errors.report("lamp", HASH, errorOf(`no ${count}`));
  errors.report("lamp", "another", errorOf("no"));

  assert.equal(sent.length, 21);
  const first = { hash: HASH, message: "x".repeat(1_000), stack: "y".repeat(8_000) };
  assert.deepEqual(sent[0]?.body, first);
});

test("uncaught errors of widgets in the page are reported, and those of other scripts are not", () => {
  const { errors, sent } = openErrors();
  const page = window;
  errors.follow(page);
  const inWidget = `at tick (http://home/assets/widgets/lamp.${HASH}.js:1:20)`;

  page.dispatchEvent(Object.assign(new Event("error"), { error: errorOf("tick", inWidget) }));
  const reason = errorOf("later", inWidget);
  page.dispatchEvent(Object.assign(new Event("unhandledrejection"), { reason }));
  const error = errorOf("shell", "at http://home/assets/main.js:1:20");
  page.dispatchEvent(Object.assign(new Event("error"), { error }));

  assert.deepEqual(
    sent.map(({ path, body }) => [path, (body as { message: string }).message]),
    [
      ["/modules/lamp/widget-errors", "tick"],
      ["/modules/lamp/widget-errors", "later"],
    ],
  );
});
