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
    message: /^MANTEL_MQTT_URL is wrong: (?!.*canary)/,
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
