import * as fc from "fast-check";
import type { Operation } from "./document.ts";
import { anyJson, valuesFitting, oddText } from "./values.ts";

/** The caller: a token with a scope, no token, or an invalid token. */
export type CallerKind = "admin" | "edit" | "read" | "nobody" | "forger";

export interface FuzzedRequest {
  readonly operation: Operation;
  readonly asking: CallerKind;
  /** The method. If the operation does not have it, no documented answer is expected. */
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Existing ids of the fuzzed home, so that not all requests end in 404. */
const IDS = ["demo", "system", "demo:light:1", "demo:light:2", "demo:scene:3", "host:scene:a", "1"];
/** Commands, publishes and windows that pass the first validation. */
const BODIES = [
  { on: true },
  { brightness: 62.5 },
  { topic: "garden/pump", payload: "on" },
  { name: "a", targets: { "demo:light:1": { on: true } } },
  { name: "phone", scope: ["read"] },
];
const QUERIES: Readonly<Record<string, readonly string[]>> = {
  start: ["2026-11-20", "2026-11-20T09:00:00Z", "0000-01-01", "9999-12-31"],
  end: ["2026-11-21", "2027-11-21T09:00:00+14:00", "9999-12-31T23:59:59Z"],
  tz: ["UTC", "Europe/Berlin", "Mars/Olympus", "+25:00"],
  limit: ["0", "1", "2000", "1e3", "-1"],
  topics: ["device.state", "module.log", "device.state,layout.changed", ","],
};
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "SEARCH"];

/** Requests to all operations: valid ones, and ones with faults in every part. */
export function requestsTo(operations: readonly Operation[]): fc.Arbitrary<FuzzedRequest> {
  const each = operations.map((operation) =>
    fc.record({
      operation: fc.constant(operation),
      asking: weighted<CallerKind>(
        [8, "admin"],
        [2, "edit"],
        [1, "read"],
        [1, "nobody"],
        [1, "forger"],
      ),
      method: fc.oneof(
        { weight: 15, arbitrary: fc.constant(operation.method) },
        { weight: 1, arbitrary: fc.constantFrom(...METHODS) },
      ),
      target: fc.tuple(path(operation), query(operation)).map(([first, second]) => first + second),
      headers: headers(operation),
      body: body(operation),
    }),
  );
  return fc.oneof(...each);
}

function path({ path: pattern, parameters }: Operation): fc.Arbitrary<string> {
  const values = parameters
    .filter((each) => each.in === "path")
    .map(({ name, schema }) =>
      fc
        .oneof(
          { weight: 5, arbitrary: fc.constantFrom(...IDS) },
          { weight: 3, arbitrary: valuesFitting(schema).map(String) },
          { weight: 2, arbitrary: oddText },
        )
        .map((value) => [name, escaped(value)] as const),
    );
  const filled = fc
    .tuple(...values)
    .map((all) =>
      all.reduce((text, [name, value]) => text.replace(`{${name}}`, () => value), pattern),
    );
  return fc.oneof(
    { weight: 20, arbitrary: filled },
    {
      weight: 1,
      arbitrary: fc.tuple(filled, oddText).map(([text, odd]) => `${text}/${escaped(odd)}`),
    },
    { weight: 1, arbitrary: filled.map((text) => `${text}%`) },
    { weight: 1, arbitrary: filled.map((text) => text.toUpperCase()) },
  );
}

function query({ parameters }: Operation): fc.Arbitrary<string> {
  const known = parameters.filter((each) => each.in === "query");
  const pair = ({ name, schema }: Operation["parameters"][number]) =>
    fc
      .oneof(
        fc.constantFrom(...(QUERIES[name] ?? [""])),
        valuesFitting(schema).map(String),
        oddText,
      )
      .map((value) => `${name}=${escaped(value)}`);
  const odd = fc
    .tuple(oddText, oddText)
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`);
  const pairs = fc.array(fc.oneof(...known.map(pair), odd), {
    maxLength: known.length === 0 ? 1 : 4,
  });
  return pairs.map((all) => (all.length === 0 ? "" : `?${all.join("&")}`));
}

function headers({ parameters }: Operation): fc.Arbitrary<Record<string, string>> {
  const value = fc.oneof(
    fc.constantFrom(
      '"1"',
      "*",
      'W/"1"',
      '"1", "2"',
      "respond-async",
      "0",
      "1",
      "99999999999999999",
    ),
    fc.string({ maxLength: 20 }).map((text) => text.replace(/[^\x20-\x7e]/g, "")),
  );
  const named = parameters.filter((each) => each.in === "header").map(({ name }) => [name, value]);
  return fc
    .record(
      {
        ...(Object.fromEntries(named) as Record<string, typeof value>),
        "content-type": weighted(
          [12, "application/json"],
          [1, "application/merge-patch+json"],
          [1, "text/plain"],
          [1, "application/json; charset=utf-16"],
        ),
        "content-encoding": fc.constantFrom("gzip", "identity", "x"),
        accept: fc.constantFrom("*/*", "text/html", "x"),
        range: fc.constant("bytes=0-"),
        "x-forwarded-for": fc.constant("10.0.0.1"),
      },
      { requiredKeys: ["content-type"] },
    )
    .map(({ "content-encoding": encoding, ...rest }) =>
      encoding === "gzip" && rest["content-type"] !== "application/json"
        ? { ...rest, "content-encoding": encoding }
        : rest,
    );
}

/** Bodies: most match the schema, some have one fault, and some are not JSON. */
function body({ body: schema, method }: Operation): fc.Arbitrary<string | undefined> {
  const nothing = fc.constant(undefined);
  if (method === "GET") return nothing;
  const good = schema
    ? fc.oneof(valuesFitting(schema), fc.constantFrom(...BODIES))
    : fc.constant({});
  const spoiled = fc
    .tuple(good, oddText, anyJson)
    .map(([value, key, odd]) => withOddMember(value, key, odd));
  return fc.oneof(
    { weight: 6, arbitrary: good.map((value) => JSON.stringify(value)) },
    { weight: 4, arbitrary: spoiled.map((value) => JSON.stringify(value)) },
    { weight: 2, arbitrary: anyJson.map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: oddText },
    { weight: 1, arbitrary: nothing },
  );
}

/** The value with one member replaced, or with an additional one. */
function withOddMember(value: unknown, key: string, odd: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return odd;
  const keys = Object.keys(value);
  const at = keys[key.length % (keys.length + 1)] ?? key;
  return Object.fromEntries([...Object.entries(value), [at, odd]]);
}

function weighted<T>(...all: readonly (readonly [weight: number, value: T])[]): fc.Arbitrary<T> {
  return fc.oneof(...all.map(([weight, value]) => ({ weight, arbitrary: fc.constant(value) })));
}

/** Removes lone surrogates, which cannot be percent-encoded. */
function escaped(text: string): string {
  return encodeURIComponent(text.replaceAll(/\p{Cs}/gu, "\ufffd"));
}
