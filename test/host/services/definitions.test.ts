import assert from "node:assert/strict";
import { test } from "node:test";
import { defineService, Type } from "@mantel/plugin-sdk";
import { RemoteFault } from "@mantel/plugin-sdk/rpc";
import type { ServiceDefinition } from "@mantel/plugin-sdk/service";
import { homeNotify, mqttBroker } from "@mantel/plugin-sdk/services";
import {
  answerFault,
  checkInput,
  parseDefinitions,
  errorForCaller,
} from "../../../host/services/definitions.ts";

const items = defineService("acme.news.items", {
  input: Type.Object({ feed: Type.String() }),
  output: Type.Array(Type.String()),
  errors: { feed_unknown: "no feed has this name" },
});

/** The definitions as the host gets them from a process. */
function parse(given: unknown, provides: readonly string[] = ["acme.news.items"]) {
  const warnings: string[] = [];
  const sent: unknown = JSON.parse(JSON.stringify(given));
  const manifest = { id: "news", provides: [...provides] };
  const parsed = parseDefinitions(sent, manifest, (...said) => void warnings.push(said.join(": ")));
  return { parsed, warnings };
}
const first = (given: unknown): ServiceDefinition => {
  const [definition = assert.fail()] = parse([given]).parsed.values();
  return definition;
};

test("definitions have the keys of the manifest, and version 1 may be written or not", () => {
  const second = { ...items, version: 2 };
  const { parsed, warnings } = parse([items, second], ["acme.news.items@1", "acme.news.items@2"]);

  assert.deepEqual([...parsed.keys()], ["acme.news.items", "acme.news.items@2"]);
  assert.deepEqual(warnings, []);
});

test("definition and manifest agree on whether a service may have several providers", () => {
  const ring = defineService("acme.chime.ring", { input: Type.Object({}), providers: "many" });
  const { providers: _, ...alone } = ring;
  const parseWith = (given: unknown, shares: string[]) =>
    parseDefinitions([given], { id: "bell", provides: [ring.name], shares }, () => undefined);

  assert.equal(parseWith(ring, [ring.name]).get(ring.name)?.providers, "many");
  assert.throws(() => parseWith(ring, []), /add "acme\.chime\.ring" to "mantel\.shares"/);
  assert.throws(() => parseWith(alone, [ring.name]), /define acme\.chime\.ring with providers/);
  const own = parseDefinitions(
    [homeNotify],
    { id: "bell", provides: [homeNotify.name] },
    () => undefined,
  );
  assert.equal(own.size, 1, "the host knows those of the SDK");
});

test("a service that the manifest does not name is left out, with the line to add", () => {
  const { parsed, warnings } = parse([items], []);

  assert.equal(parsed.size, 0);
  assert.match(warnings[0] ?? "", /add "acme\.news\.items" to "mantel\.provides"/);
});

test("services that the manifest names and the plugin does not return are named in one warning", () => {
  const { warnings } = parse([items], ["acme.news.items@1", "a.b", "a.b@2", "calendar.window"]);

  assert.deepEqual(warnings, [
    'a service cannot be called, because the plugin does not return it: return a.b, a.b@2 under "services", or remove it from "mantel.provides" in the package.json',
  ]);
});

const WRONG: readonly (readonly [what: string, given: unknown, said: RegExp])[] = [
  ["no list", { items }, /the list of services of news is invalid/],
  ["more than 100 services", Array.from({ length: 101 }, () => items), /list of services/],
  ["a name without a dot", [{ ...items, name: "items" }], /\/0\/name/],
  ["a version of 0", [{ ...items, version: 0 }], /\/0\/version/],
  ["a deadline above a minute", [{ ...items, deadlineMs: 60_001 }], /\/0\/deadlineMs/],
  ["an unknown scope", [{ ...items, open: "public" }], /\/0\/open/],
  ["an odd error code", [{ ...items, errors: { "Feed!": "x" } }], /\/0\/errors/],
  ["a key of its own", [{ ...items, rate: 5 }], /rate/],
  [
    "a pattern that takes long",
    [{ ...items, input: { type: "string", pattern: "^(a+)+$" } }],
    /the schema of the input of acme\.news\.items is invalid/,
  ],
  [
    "a schema of 300,000 characters",
    [{ ...items, output: { description: "x".repeat(300_000) } }],
    /the schema of the answer of acme\.news\.items has more than/,
  ],
  [
    "definitions of 600,000 characters together",
    [1, 2, 3].map((version) => ({ ...items, version, input: { x: "x".repeat(200_000) } })),
    /the services of news have more than/,
  ],
];

for (const [what, given, said] of WRONG) {
  test(`${what} is refused`, () => {
    assert.throws(() => parse(given), { code: "invalid", message: said });
  });
}

test("a wrong input is refused with its pointer, and an answer's first fault is named", () => {
  const definition = first(items);

  checkInput(definition, { feed: "world" });
  assert.throws(() => checkInput(definition, { feed: 5 }), {
    code: "invalid",
    message: /^the input of acme\.news\.items is invalid: \/feed/,
  });
  assert.equal(answerFault(definition, ["one"]), undefined);
  assert.match(answerFault(definition, ["one", 2]) ?? "", /^\/1 /);
  assert.match(answerFault(definition, undefined) ?? "", /^the whole value/);
});

test("a check by a schema with circular references ends and refuses the value", () => {
  const circle = { $ref: "#" };

  assert.match(answerFault(first({ ...items, output: circle }), {}) ?? "", /cannot be checked/);
});

test("a definition of the SDK is checked by the SDK's own schemas", () => {
  const { parsed } = parse([mqttBroker], ["mqtt.broker"]);

  assert.equal(parsed.get("mqtt.broker")?.output, mqttBroker.output);
});

test("errors under a declared code reach the caller, all others stay the provider's", () => {
  const definition = first(items);
  const thrown = (code: string) =>
    new RemoteFault({ name: "ServiceError", message: "there is no feed x", code });

  const { code, message, service } = errorForCaller(definition, thrown("feed_unknown")) as never;
  assert.deepEqual(
    [code, message, service],
    ["feed_unknown", "there is no feed x", "acme.news.items"],
  );
  for (const error of [
    thrown("feed_secret"),
    thrown("toString"),
    new RemoteFault({ name: "Error", code: "feed_unknown", message: "no" }),
  ]) {
    assert.equal(errorForCaller(definition, error), error);
  }
});
