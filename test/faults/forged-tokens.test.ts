import assert from "node:assert/strict";
import { test } from "node:test";
import { tryForgeries } from "../../scripts/attack/forged-tokens.ts";
import { forgeries, readSigningKey } from "../helpers/forgeries.ts";
import { serveApp } from "../host/http/serve-app.ts";

/** Of the kinds, each of which a test of the tokens tries on its own. `npm run attack -- forged` has all. */
const EVERY = 7;

test("no forged token is accepted by any operation, however its path is spelled", async (t) => {
  const app = await serveApp(t);
  const good = await app.token("admin");
  const all = Object.entries(forgeries(await readSigningKey(app.data), good));
  const some = all.filter((_, at) => at % EVERY === 0);

  const count = await tryForgeries(app.url, good, Object.fromEntries(some));

  t.diagnostic(JSON.stringify({ ...count, accepted: count.accepted.length }));
  assert.ok(count.asked > 2_000);
  assert.deepEqual(count.accepted, []);
  assert.deepEqual(
    app.log.records.filter(({ level }) => level === "error"),
    [],
  );
});
