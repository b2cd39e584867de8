import assert from "node:assert/strict";
import { test } from "node:test";
import { mountOnPage } from "../../helpers/page/widget.ts";

const OLD = { name: "Old", size: { default: [4, 4] } } as const;

test("a widget that reads ctx.kept does not mount, and the error has the new name", (t) => {
  const mount = (_: ShadowRoot, ctx: object) => void (ctx as { kept?: unknown }).kept;

  assert.throws(() => mountOnPage(t, { ...OLD, mount }), {
    message: "ctx.kept is now ctx.handedOver",
  });
});

test("a widget with keep() does not mount, and the error has the new name", (t) => {
  const mount = () => ({ keep: () => 1 }) as object;

  assert.throws(() => mountOnPage(t, { ...OLD, mount }), {
    message: "keep() is now handOver()",
  });
});
