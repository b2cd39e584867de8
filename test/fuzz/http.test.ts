import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { openHttpFuzz } from "../../scripts/fuzz/http.ts";
import { serveApp } from "../host/http/serve-app.ts";
import { checkProperty } from "./settings.ts";

test("any request gets an answer that the OpenAPI document describes", async (t) => {
  const app = await serveApp(t);
  const fuzz = await openHttpFuzz({
    url: app.url,
    token: (scope) => app.tokens.issue({ name: `fuzz ${scope}`, scope: [scope], ttlSeconds: 600 }),
  });
  t.after(fuzz.close);

  const examples = await checkProperty(t, fc.asyncProperty(fuzz.requests, fuzz.judge), 5_000);

  t.diagnostic(JSON.stringify(Object.fromEntries(fuzz.statuses)));
  assert.ok(fuzz.statuses.size >= Math.min(5, examples / 20), "the requests are of many kinds");
  assert.deepEqual(
    app.log.records.filter(({ level }) => level === "error"),
    [],
  );
});
