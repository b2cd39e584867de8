import assert from "node:assert/strict";
import { test } from "node:test";
import {
  openSession,
  readStatusWithToken,
  tryForgeries,
} from "../../scripts/attack/forged-tokens.ts";
import { forgeries, readSigningKey } from "../helpers/forgeries.ts";
import { serveApp } from "../host/http/serve-app.ts";

/** Of the kinds, each of which a test of the tokens tries on its own. `npm run attack -- forged` has all. */
const EVERY = 11;

test("no operation accepts a forged token, in a header or cookie, for any spelling of its path", async (t) => {
  const app = await serveApp(t);
  const good = await app.token("admin");
  const session = await openSession(app.url, good);
  const signing = await readSigningKey(app.data);
  const some = (genuine: string) =>
    Object.fromEntries(
      Object.entries(forgeries(signing, genuine)).filter((_, at) => at % EVERY === 0),
    );

  const count = await tryForgeries(app.url, good, { header: some(good), cookie: some(session) });

  t.diagnostic(JSON.stringify({ ...count, accepted: count.accepted.length }));
  assert.ok(count.asked > 4_000);
  assert.deepEqual(count.accepted, []);
  assert.deepEqual(
    app.log.records.filter(({ level }) => level === "error"),
    [],
  );
  assert.deepEqual(
    [
      await readStatusWithToken(app.url, "header", good),
      await readStatusWithToken(app.url, "cookie", session),
    ],
    [200, 200],
    "what was forged is good",
  );
});

test("every kind of forged session is refused in the cookie", async (t) => {
  const app = await serveApp(t);
  const session = await openSession(app.url, await app.token("admin"));
  const forged = Object.entries(forgeries(await readSigningKey(app.data), session));

  const accepted: string[] = [];
  for (const [kind, token] of forged) {
    if ((await readStatusWithToken(app.url, "cookie", token)) !== 401) accepted.push(kind);
  }

  assert.deepEqual(accepted, []);
  assert.ok(forged.length >= 45);
});
