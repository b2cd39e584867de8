import assert from "node:assert/strict";
import { test } from "node:test";
import { defineRoute, Type } from "@mantel/plugin-sdk";
import type { SentAnswer } from "@mantel/plugin-sdk/protocol";
import { checkAnswer, WrongAnswer } from "../../../host/routes/answer.ts";

const feeds = defineRoute({
  method: "GET",
  path: "/feeds",
  scope: "read",
  summary: "List feeds",
  response: Type.Array(Type.String()),
});
const file = defineRoute({ method: "GET", path: "/file", scope: "read", summary: "Export" });

test("JSON, text, bytes, redirects and a bare status are answers", () => {
  const said = (sent: SentAnswer, route: typeof feeds | typeof file = file) => {
    const { status, type, body, headers } = checkAnswer(route, sent);
    return [status, type, body?.toString(), headers];
  };

  assert.deepEqual(said({ json: ["a"] }, feeds), [200, "application/json", '["a"]', {}]);
  assert.deepEqual(said({ text: "a,b", type: "text/csv" }), [200, "text/csv", "a,b", {}]);
  assert.deepEqual(said({ bytes: "aGk=" }), [200, "application/octet-stream", "hi", {}]);
  assert.deepEqual(said({}), [204, undefined, undefined, {}]);
  assert.deepEqual(said({ status: 202 }), [202, undefined, undefined, {}]);
  const location = "https://example.org/login?x=1";
  assert.deepEqual(said({ redirect: location }), [302, undefined, undefined, { location }]);
  const headers = { "cache-control": "max-age=5" };
  assert.deepEqual(said({ text: "x", headers }), [200, "application/octet-stream", "x", headers]);
});

const REFUSED: readonly (readonly [what: string, sent: object, said: RegExp])[] = [
  ["JSON that does not fit", { json: [1] }, /does not fit "response": \/0/],
  ["no JSON where it is declared", {}, /does not fit "response"/],
  ["two contents", { json: ["a"], text: "a" }, /more than one of/],
  ["a script", { text: "x", type: "text/javascript" }, /scripts are refused/],
  ["a cookie", { json: [], headers: { "set-cookie": "a=1" } }, /set-cookie/],
  ["a policy of its own", { json: [], headers: { "content-security-policy": "" } }, /policy/],
  ["a header over two lines", { json: [], headers: { etag: "a\r\nb: c" } }, /\/headers\/etag/],
  ["a type over two lines", { text: "x", type: "text/plain\r\nx: y" }, /\/type/],
  ["a status that is none", { status: 99 }, /\/status/],
  ["a status of a redirect without one", { status: 301 }, /without a redirect/],
  ["a redirect with another status", { redirect: "/x", status: 200 }, /with the status 200/],
  ["a redirect to a script", { redirect: "javascript:alert(1)" }, /\/redirect/],
  ["a redirect to another host without a scheme", { redirect: "//example.org" }, /\/redirect/],
  ["a redirect over two lines", { redirect: "/x\r\ny" }, /\/redirect/],
  ["a text above 1 MiB", { text: "ä".repeat(2 ** 19 + 1) }, /has 1048578 bytes/],
  ["bytes above 1 MiB", { bytes: "A".repeat(1_400_000) }, /\/bytes/],
  ["a list", [], /the answer/],
];

for (const [what, sent, said] of REFUSED) {
  test(`${what} is not sent`, () => {
    assert.throws(
      () => checkAnswer(feeds, sent),
      (error: WrongAnswer) => {
        assert.ok(error instanceof WrongAnswer);
        assert.match(error.message, said);
        return true;
      },
    );
  });
}
