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
    'the certificate of nas.local:1883 is not trusted (ERR_TLS_CERT_ALTNAME_INVALID); set the option "ca" to the certificate to trust',
  ],
  [withCode("EPIPE", "write EPIPE"), "nas.local:1883 cannot be reached: write EPIPE"],
  [new MantelError("service_unavailable", "nothing provides it"), "nothing provides it"],
] as const) {
  test(`the user-facing reason is "${reason}"`, () => {
    assert.equal(awayReason(error, URL_WITH_SECRET), reason);
  });
}

test("a broker that refuses the version or closes the connection may support only an older MQTT", () => {
  assert.ok(speaksOlderMqtt(withCode(1)));
  assert.ok(speaksOlderMqtt(withCode(132)));
  assert.ok(speaksOlderMqtt(new Error(HUNG_UP)));
});

test("a refused password does not suggest an older MQTT", () => {
  assert.ok(!speaksOlderMqtt(withCode(135)));
  assert.ok(!speaksOlderMqtt(withCode("ECONNREFUSED")));
});

test("an error with a reason code is a refusal, any other error a broken connection", () => {
  assert.equal(refusal(withCode(151), "home/desk").code, "broker_refused");
  assert.equal(refusal(new Error("client disconnecting"), "home/desk").code, "broker_down");
});
