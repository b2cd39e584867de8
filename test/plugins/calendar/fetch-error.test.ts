import assert from "node:assert/strict";
import { test } from "node:test";
import { fetchError, unreachable } from "../../../plugins/calendar/web/fetch-error.ts";

const AT = Date.parse("2026-11-20T12:00:00Z");
const inAnHour = {
  date: new Date(AT).toUTCString(),
  "retry-after": new Date(AT + 3_600_000).toUTCString(),
};

test("a Retry-After date gives the right wait even if this machine's clock is wrong", (t) => {
  t.mock.timers.enable({ apis: ["Date"] });

  const waits = ["1999-12-31", "2026-11-20T12:00:00Z", "2049-01-01"].map((now) => {
    t.mock.timers.setTime(Date.parse(now));
    return fetchError(503, inAnHour).extras.retryAfterMs;
  });

  assert.deepEqual(waits, [3_600_000, 3_600_000, 3_600_000]);
});

test("without the server's clock a Retry-After is at most a day and never negative", (t) => {
  t.mock.timers.enable({ apis: ["Date"] });
  const { "retry-after": retryAfter } = inAnHour;

  const waits = ["1999-12-31", "2049-01-01"].map((now) => {
    t.mock.timers.setTime(Date.parse(now));
    return fetchError(503, { "retry-after": retryAfter }).extras.retryAfterMs;
  });

  assert.deepEqual(waits, [86_400_000, 0]);
});

test("a server without Basic authentication is not reported as refusing the password", () => {
  const told = (challenge: string) => fetchError(401, { "www-authenticate": challenge }).message;

  assert.match(told('Digest realm="Baïkal", nonce="1"'), /by Digest \(401\), .* switch Basic on/);
  assert.match(told('Bearer realm="https://accounts.google.com/"'), /by Bearer \(401\)/);
  assert.match(told('Basic realm="Nextcloud"'), /does not accept the user name and password/);
  assert.match(told('Negotiate, Basic realm="Exchange"'), /does not accept the user name/);
  assert.match(fetchError(401, {}).message, /does not accept the user name and password/);
});

test("an invalid certificate is described, and other errors show their code", () => {
  const told = (code?: string) =>
    unreachable(Object.assign(new Error("failed"), code === undefined ? {} : { code })).message;

  assert.match(told("CERT_HAS_EXPIRED"), /certificate \(CERT_HAS_EXPIRED\) has expired: renew it/);
  assert.match(told("ERR_TLS_CERT_ALTNAME_INVALID"), /is for another name/);
  assert.equal(told("ECONNREFUSED"), "the server cannot be reached (ECONNREFUSED)");
  assert.equal(told(), "the server cannot be reached (no details)");
});
