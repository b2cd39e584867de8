import assert from "node:assert/strict";
import { test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk";
import {
  connectionError,
  isOlderMqtt,
  requestError,
} from "../../../plugin-sdk/mqtt/open-connection.ts";

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
    assert.equal(connectionError(error, URL_WITH_SECRET), reason);
  });
}

test("a broker that refuses the version or closes the connection may support only an older MQTT", () => {
  assert.ok(isOlderMqtt(withCode(1)));
  assert.ok(isOlderMqtt(withCode(132)));
  assert.ok(isOlderMqtt(new Error("the broker closed the connection without an answer")));
});

test("a refused password does not suggest an older MQTT", () => {
  assert.ok(!isOlderMqtt(withCode(135)));
  assert.ok(!isOlderMqtt(withCode("ECONNREFUSED")));
});

test("an error with a reason code is a refusal, any other error a broken connection", () => {
  assert.equal(requestError(withCode(151), "home/desk").code, "broker_refused");
  assert.equal(requestError(new Error("client disconnecting"), "home/desk").code, "broker_down");
});
