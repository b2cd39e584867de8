import assert from "node:assert/strict";
import { test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk";
import { awayReason, HUNG_UP, refusal, speaksOlderMqtt } from "../../../plugin-sdk/mqtt/reasons.ts";

const withCode = (code: string | number, message = "it failed") =>
  Object.assign(new Error(message), { code });
const URL_WITH_SECRET = "mqtt://mantel:canary@nas.local:1883";

for (const [error, reason] of [
  [withCode("ECONNREFUSED"), "nothing listens at nas.local:1883"],
  [withCode("ENOTFOUND"), "the name nas.local cannot be resolved"],
  [withCode(135), "nas.local:1883 refuses the user name or the password"],
  [withCode(5), "nas.local:1883 refuses the user name or the password"],
  [
    withCode("ERR_TLS_CERT_ALTNAME_INVALID"),
    "the certificate of nas.local:1883 is not trusted (ERR_TLS_CERT_ALTNAME_INVALID); the option ca names whom to trust",
  ],
  [withCode("EPIPE", "write EPIPE"), "nas.local:1883 cannot be reached: write EPIPE"],
  [new MantelError("service_unavailable", "nothing provides it"), "nothing provides it"],
] as const) {
  test(`people read "${reason}"`, () => {
    assert.equal(awayReason(error, URL_WITH_SECRET), reason);
  });
}

test("a broker that refuses the version, or hangs up, may speak an older MQTT", () => {
  assert.ok(speaksOlderMqtt(withCode(1)));
  assert.ok(speaksOlderMqtt(withCode(132)));
  assert.ok(speaksOlderMqtt(new Error(HUNG_UP)));
});

test("a broker that refuses the password does not", () => {
  assert.ok(!speaksOlderMqtt(withCode(135)));
  assert.ok(!speaksOlderMqtt(withCode("ECONNREFUSED")));
});

test("a reason code of the broker is a refusal, and anything else a broken connection", () => {
  assert.equal(refusal(withCode(151), "home/desk").code, "broker_refused");
  assert.equal(refusal(new Error("client disconnecting"), "home/desk").code, "broker_down");
});
