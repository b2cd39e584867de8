import assert from "node:assert/strict";
import { test } from "node:test";
import { mergeCommands } from "../../../host/dashboard/merge-commands.ts";
import { withPending } from "../../../host/dashboard/pending.ts";
import { deviceOf } from "../../helpers/device.ts";

const SWITCH = { type: "boolean" } as const;
const part = (id: string) => ({
  id,
  kind: "switch",
  name: id,
  capabilities: { on: SWITCH },
  state: { on: false },
  pending: {},
});
const DEVICE = deviceOf({
  parts: [part("l1"), part("l2")] as never,
  extra: { capabilities: {}, state: { childLock: false }, pending: {} },
});

test("later values replace earlier ones, also in parts and extras", () => {
  const merged = mergeCommands(
    { on: true, parts: { l1: { on: true }, l2: { on: true } }, extra: { childLock: true } },
    { brightness: 5, parts: { l2: { on: false } } },
  );

  assert.deepEqual(merged, {
    on: true,
    brightness: 5,
    extra: { childLock: true },
    parts: { l1: { on: true }, l2: { on: false } },
  });
});

test("only the latest of two movements is sent", () => {
  assert.deepEqual(mergeCommands({ position: 40 }, { stop: true }), { stop: true });
  assert.deepEqual(mergeCommands({ open: true }, { position: 40 }), { position: 40 });
  assert.deepEqual(mergeCommands({ next: true }, { volume: 5 }), { next: true, volume: 5 });
});

test("requested values are pending where they belong, and a code is not kept", () => {
  const { pending, parts, extra } = withPending(DEVICE, {
    mode: "away",
    code: "1234",
    parts: { l2: { on: true, code: "1" } },
    extra: { childLock: true },
  });

  assert.deepEqual(pending, { mode: "away" });
  assert.deepEqual(
    parts?.map((each) => each.pending),
    [{}, { on: true }],
  );
  assert.deepEqual(extra?.pending, { childLock: true });
  assert.equal(withPending(DEVICE, {}), DEVICE);
});
