import assert from "node:assert/strict";
import { test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { KeyTable } from "../../../host/config/keys.ts";
import { planPatch } from "../../../host/config/patch.ts";
import { effectiveConfig } from "../../../host/config/values.ts";

const keys = new KeyTable();
const sources = { keys, environment: {}, stored: { plain: {}, secret: {} } };
const current = effectiveConfig(sources);
const plan = (patch: unknown, admin = true) =>
  planPatch(patch, { ...sources, current, admin }).map(([{ dotted }, value]) => [dotted, value]);
const failureOf = (patch: unknown, admin = true): MantelError => {
  try {
    plan(patch, admin);
  } catch (error) {
    if (error instanceof MantelError) return error;
    throw error;
  }
  throw new Error("the patch was accepted");
};

test("objects are merged into existing ones, and other values are replaced", () => {
  assert.deepEqual(plan({ server: { rateLimit: { burst: 5 }, hosts: ["a.local"] } }), [
    ["server.rateLimit", { perSecond: 20, burst: 5, loopback: false }],
    ["server.hosts", ["a.local"]],
  ]);
});

test("null inside a value removes that part, which then has its default", () => {
  assert.deepEqual(plan({ server: { rateLimit: { burst: null } } }), [
    ["server.rateLimit", { perSecond: 20, loopback: false }],
  ]);
  assert.deepEqual(failureOf({ ui: { night: { from: null, to: "06:00" } } }).extras.errors, [
    { pointer: "/ui/night/from", detail: "is missing" },
  ]);
});

test("an editor is refused with every key that needs admin", () => {
  const failure = failureOf({ ui: { theme: "dark" }, mqtt: { url: "x" }, nothing: 1 }, false);

  assert.equal(failure.code, "config_key_not_allowed");
  assert.deepEqual(failure.extras.keys, ["mqtt.url", "nothing"]);
  assert.equal(failure.message, "only the admin scope may change mqtt.url, nothing");
});

test("an editor cannot replace an admin section with any value", () => {
  for (const mqtt of [null, 5, "x", []]) {
    assert.equal(failureOf({ mqtt }, false).code, "config_key_not_allowed");
  }
  assert.equal(failureOf({ ui: 5 }, false).code, "invalid");
});

test("a patch by an admin reports unknown keys together with all other faults", () => {
  const { code, extras } = failureOf({ ui: { them: 1, theme: "pink" }, nothing: {}, log: 5 });

  assert.equal(code, "invalid");
  assert.deepEqual(extras.errors?.map(({ pointer }) => pointer).toSorted(), [
    "/log",
    "/nothing",
    "/ui/them",
    "/ui/theme",
  ]);
});

for (const text of [
  '{"__proto__":{"polluted":1}}',
  '{"constructor":{"prototype":{"polluted":1}}}',
  '{"ui":{"__proto__":{"polluted":1}}}',
  '{"ui":{"toString":1}}',
  '{"toString":null}',
  '{"modules":{"__proto__":{"enabled":true}}}',
]) {
  test(`${text} is an unknown key and does not pollute prototypes`, () => {
    const patch: unknown = JSON.parse(text);

    assert.equal(failureOf(patch, false).code, "config_key_not_allowed");
    assert.equal(failureOf(patch, true).code, "invalid");
    assert.equal(Reflect.get({}, "polluted"), undefined);
  });
}

test("__proto__ inside a value is treated as a key and refused", () => {
  const patch: unknown = JSON.parse('{"server":{"rateLimit":{"__proto__":{"burst":1}}}}');

  assert.equal(failureOf(patch).extras.errors?.[0]?.pointer, "/server/rateLimit/__proto__");
});

test("a config that is not an object of sections is refused", () => {
  for (const patch of [null, 5, "ui", [], [{ ui: {} }]]) {
    const { code, message } = failureOf(patch);
    assert.equal(code, "invalid");
    assert.equal(message, "the patch is invalid: the whole value must be an object of sections");
  }
  assert.equal(failureOf({ ui: 5 }).message, "the patch is invalid: /ui must be an object");
  assert.deepEqual(plan({}), []);
});

for (const [patch, detail] of [
  [{ ui: { timeZone: "Mars/Olympus" } }, /an IANA time zone such as/],
  [{ ui: { locale: "no locale" } }, /a BCP 47 language tag/],
  [{ ui: { night: { from: "25:00", to: "06:00" } } }, /a time of day such as/],
  [{ ui: { night: { from: "22:00" } } }, /is missing/],
  [{ ui: { idleSeconds: 1.5 } }, /of type integer/],
  [{ calendar: { defaultDays: 367 } }, /at most 366/],
  [{ api: { prefix: "/v2" } }, /one of "\/api\/v1", "\/api"/],
  [{ mqtt: { url: "http://broker" } }, /the address of a broker/],
  [{ mqtt: { url: "mqtt://u:p@ss@broker" } }, /the address of a broker/],
  [{ mqtt: { password: 5 } }, /^must be of type string$/],
  [{ server: { hosts: ["a b"] } }, /a host name without port/],
] as const) {
  test(`${JSON.stringify(patch)} is refused with the expected value`, () => {
    assert.match(failureOf(patch).extras.errors?.[0]?.detail ?? "", detail);
  });
}

test("a value that an address in the environment contains is locked too", () => {
  const environment = { mqtt: { url: "mqtt://h", username: "me" } };
  const patch = () =>
    planPatch({ mqtt: { username: "you" } }, { ...sources, environment, current, admin: true });

  assert.throws(patch, {
    code: "invalid",
    message: "the patch is invalid: /mqtt/username is set by the environment; change it there",
  });
});
