import assert from "node:assert/strict";
import { test } from "node:test";
import {
  moveCredentialsFromUrl,
  readEnvironment,
  unknownVariables,
} from "../../../host/config/environment.ts";
import { KeyTable } from "../../../host/config/keys.ts";

test("environment variables set their keys, and empty ones do not", () => {
  const variables = { MANTEL_MQTT_URL: "mqtt://127.0.0.1:1883", MANTEL_LOG_LEVEL: "" };

  assert.deepEqual(readEnvironment(variables, new KeyTable()), {
    mqtt: { url: "mqtt://127.0.0.1:1883" },
  });
});

test("a name and a password in the broker's address variable become separate keys", () => {
  const variables = { MANTEL_MQTT_URL: "mqtt://me:a%3Ab:c@h" };

  assert.deepEqual(readEnvironment(variables, new KeyTable()), {
    mqtt: { url: "mqtt://h", username: "me", password: "a:b:c" },
  });
});

test("an invalid variable is named without showing a password in it", () => {
  assert.throws(() => readEnvironment({ MANTEL_MQTT_URL: "ftp://u:canary@h" }, new KeyTable()), {
    code: "invalid",
    message: /^MANTEL_MQTT_URL is invalid: (?!.*canary)/,
  });
});

test("a mistyped environment variable is told apart from known ones and those of other programs", () => {
  const variables = { MANTEL_PORT: "1", MANTEL_LOG_LEVEL: "info", MANTEL_MQTT_ULR: "", PATH: "" };

  assert.deepEqual(unknownVariables(variables, new KeyTable()), ["MANTEL_MQTT_ULR"]);
});

test("separate credentials override those in the address", () => {
  const lifted = moveCredentialsFromUrl({ mqtt: { url: "mqtt://old:older@h", password: "new" } });

  assert.deepEqual(lifted, { mqtt: { url: "mqtt://h", username: "old", password: "new" } });
});

test("a document without a broker address is unchanged", () => {
  for (const document of [null, 5, {}, { mqtt: 5 }, { mqtt: { url: 5 } }]) {
    assert.equal(moveCredentialsFromUrl(document), document);
  }
});

for (const [url, expected] of Object.entries({
  "mqtt://me@h": { url: "mqtt://h", username: "me" },
  "mqtt://:secret@h": { url: "mqtt://h", password: "secret" },
  "mqtt://me:@h": { url: "mqtt://h", username: "me" },
  "mqtt://@h": { url: "mqtt://h" },
  "mqtt://100%:50%25@h": { url: "mqtt://h", username: "100%", password: "50%" },
  "mqtt://h/path@x": { url: "mqtt://h/path@x" },
  "mqtt://me:a@b@h": { url: "mqtt://b@h", username: "me", password: "a" },
  "me:secret@h": { url: "me:secret@h" },
  " mqtt://me:secret@h": { url: " mqtt://me:secret@h" },
  "wss://me:secret@h:443/mqtt": { url: "wss://h:443/mqtt", username: "me", password: "secret" },
})) {
  test(`the broker's address ${url} is separated into its parts`, () => {
    assert.deepEqual(moveCredentialsFromUrl({ mqtt: { url } }), { mqtt: expected });
  });
}

test("moving credentials out of an address changes nothing else", () => {
  const document = { ui: { theme: "dark" }, mqtt: { url: "mqtt://me:x@h", ca: "y" } };

  assert.deepEqual(moveCredentialsFromUrl(document), {
    ui: { theme: "dark" },
    mqtt: { url: "mqtt://h", username: "me", password: "x", ca: "y" },
  });
});
