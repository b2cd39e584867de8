import assert from "node:assert/strict";
import { test } from "node:test";
import { startSessionRenewal } from "../../../host/dashboard/session-renewal.ts";

const SIX_HOURS_MS = 6 * 60 * 60 * 1000;

test("a display asks for renewal at its start and every six hours, also after a failure", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const warn = t.mock.method(console, "warn", () => undefined);
  const asked: string[] = [];
  const api = {
    post: async (path: string): Promise<never> => {
      asked.push(path);
      throw new Error("away");
    },
  };

  startSessionRenewal(api as never);
  await new Promise(setImmediate);
  t.mock.timers.tick(SIX_HOURS_MS);
  await new Promise(setImmediate);

  assert.deepEqual(asked, ["/tokens/renew", "/tokens/renew"]);
  assert.equal(warn.mock.callCount(), 2);
});
