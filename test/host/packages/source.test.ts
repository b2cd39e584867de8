import assert from "node:assert/strict";
import { test } from "node:test";
import { formatSource, isExact, parseSource, withVersion } from "../../../host/packages/source.ts";

for (const [text, expected] of [
  ["mantel-lamp", { kind: "npm", name: "mantel-lamp" }],
  ["mantel-lamp@1.2.0", { kind: "npm", name: "mantel-lamp", range: "1.2.0" }],
  ["@acme/lamp@^2", { kind: "npm", name: "@acme/lamp", range: "^2" }],
  ["@acme/lamp", { kind: "npm", name: "@acme/lamp" }],
  ["https://a.test/lamp-1.0.0.tgz", { kind: "tarball", address: "https://a.test/lamp-1.0.0.tgz" }],
  ["github:acme/lamp#v1", { kind: "git", address: "github:acme/lamp#v1" }],
  ["git+ssh://git@a.test/x.git", { kind: "git", address: "git+ssh://git@a.test/x.git" }],
  ["https://a.test/lamp.git", { kind: "git", address: "https://a.test/lamp.git" }],
  ["/srv/lamp", { kind: "folder", path: "/srv/lamp" }],
  ["link:/srv/lamp", { kind: "link", path: "/srv/lamp" }],
] as const) {
  test(`${text} is a source, and is shown as it was written`, () => {
    assert.deepEqual(parseSource(text), expected);
    assert.equal(formatSource(parseSource(text)), text);
  });
}

test("file: before a path may be left out", () => {
  assert.deepEqual(parseSource("file:/srv/lamp"), { kind: "folder", path: "/srv/lamp" });
});

for (const text of [
  "",
  "-g",
  "--registry=http://evil.test",
  "../lamp",
  "Lamp Plugin",
  "lamp@npm:other",
  "lamp@--tag",
  "lamp@file:../x",
  "ftp://a.test/lamp.tgz",
  "lamp\n",
  "a".repeat(501),
]) {
  test(`${JSON.stringify(text.slice(0, 30))} is refused with the forms that a source may have`, () => {
    assert.throws(() => parseSource(text), { code: "invalid", message: /use a package name/ });
  });
}

test("an address with a password is refused, because it would be stored and shown", () => {
  assert.throws(() => parseSource("https://me:secret@a.test/lamp.tgz"), {
    code: "invalid",
    message: /a\.test contains a password; put it into \.npmrc/,
  });
});

test("only packages of a registry have versions to choose from", () => {
  assert.deepEqual(withVersion({ kind: "npm", name: "lamp", range: "1.0.0" }, "2.0.0"), {
    kind: "npm",
    name: "lamp",
    range: "2.0.0",
  });
  assert.throws(() => withVersion({ kind: "folder", path: "/srv/lamp" }, "2.0.0"), {
    code: "invalid",
    message: '/srv/lamp has no versions to choose from; leave "version" out',
  });
  assert.ok(isExact({ kind: "npm", name: "lamp", range: "1.0.0" }));
  assert.ok(!isExact({ kind: "npm", name: "lamp", range: "^1.0.0" }));
});
