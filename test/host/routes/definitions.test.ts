import assert from "node:assert/strict";
import { test } from "node:test";
import { defineRoute, Type } from "@mantel/plugin-sdk";
import { parseRoutes } from "../../../host/routes/definitions.ts";

const feed = {
  method: "GET",
  path: "/feeds/:name",
  scope: "read",
  summary: "Read a feed",
  params: Type.Object({ name: Type.String({ maxLength: 50 }) }),
} as const;
const parse = (given: unknown) =>
  parseRoutes(JSON.parse(JSON.stringify(given)), {
    id: "news",
    paths: { "/tides": { routes: true }, "/moon": { channel: "moon" } },
  });

test("routes that differ in method or path are accepted", () => {
  assert.equal(
    parse([feed, { ...feed, method: "DELETE" }, { ...feed, path: "/feeds/:name/items" }]).length,
    3,
  );
});

test("a route may be at a path of the manifest, and below it, beside one of the same name", () => {
  const tides = { ...feed, path: undefined, at: "/tides/:name" };

  const routes = parse([
    tides,
    { ...tides, at: "/tides", params: undefined },
    { ...feed, path: "/tides/:name" },
  ]);

  assert.deepEqual(
    routes.map(({ at, path }) => at ?? path),
    ["/tides/:name", "/tides", "/tides/:name"],
  );
});

const WRONG: readonly (readonly [what: string, given: unknown, said: RegExp])[] = [
  [
    "two routes at one address",
    [feed, { ...feed, path: "/feeds/:id", params: undefined }],
    /two routes/,
  ],
  ["an upper-case path", [{ ...feed, path: "/Feeds" }], /\/0\/path/],
  ["a path with a pattern", [{ ...feed, path: "/(.*)" }], /\/0\/path/],
  ["a path upwards", [{ ...feed, path: "/../modules" }], /\/0\/path/],
  ["a path of the host", [{ ...feed, path: "/update", params: undefined }], /the host's own/],
  [
    "a path that begins with a parameter",
    [{ ...feed, path: "/:name" }],
    /begins with a fixed part/,
  ],
  ["a public route without a secret", [{ ...feed, scope: "public" }], /belong together/],
  ["a secret with a scope", [{ ...feed, secretInPath: true }], /belong together/],
  ["a route without a path", [{ ...feed, path: undefined }], /needs either path or at/],
  ["a route with two", [{ ...feed, at: "/tides/:name" }], /needs either path or at/],
  [
    "a route at a path that the manifest does not list",
    [{ ...feed, path: undefined, at: "/tidesx/:name" }],
    /add "paths": \{"\/tidesx": \{"routes": true\}\} to "mantel"/,
  ],
  [
    "a route at the path of a channel",
    [{ ...feed, path: undefined, at: "/moon/:name" }],
    /add "paths": \{"\/moon"/,
  ],
  [
    "a secret address at a path",
    [{ ...feed, path: undefined, at: "/tides/:name", scope: "public", secretInPath: true }],
    /a secret address has path, and not at/,
  ],
  ["an unknown scope", [{ ...feed, scope: "none" }], /\/0\/scope/],
  ["a GET with a body", [{ ...feed, raw: true }], /a GET has no body/],
  ["a raw body with a schema", [{ ...feed, method: "POST", raw: true, body: {} }], /no schema/],
  ["a body above 1 MiB", [{ ...feed, maxBytes: 2 ** 20 + 1 }], /maxBytes is at most 1048576/],
  [
    "a raw body above 16 MiB",
    [{ ...feed, method: "PUT", raw: true, maxBytes: 2 ** 24 + 1 }],
    /\/0\/maxBytes/,
  ],
  ["the authorization header", [{ ...feed, headers: ["authorization"] }], /not given to plugins/],
  ["the cookie header", [{ ...feed, headers: ["cookie"] }], /not given to plugins/],
  [
    "params that are not an object",
    [{ ...feed, params: { type: "string" } }],
    /not an object of schemas/,
  ],
  ["a parameter that the path lacks", [{ ...feed, path: "/feeds" }], /params has name/],
  [
    "a pattern that takes long",
    [{ ...feed, query: { type: "object", properties: { q: { pattern: "^(a+)+$" } } } }],
    /the schema query/,
  ],
  [
    "51 routes",
    Array.from({ length: 51 }, (_, at) => ({ ...feed, path: `/feeds${at}/:name` })),
    /list of routes/,
  ],
];

for (const [what, given, said] of WRONG) {
  test(`${what} is refused`, () => {
    assert.throws(() => parse(given), { code: "invalid", message: said });
  });
}

test("a raw body may have up to 16 MiB", () => {
  const upload = { ...feed, method: "PUT", raw: true, maxBytes: 2 ** 24 };

  assert.deepEqual(parse([upload]), [upload]);
});

test("the SDK refuses the same routes where they are defined", () => {
  assert.throws(() => defineRoute({ ...feed, scope: "public" }), /belong together/);
  assert.throws(() => defineRoute({ ...feed, path: "/update" }), /the host's own/);
});
