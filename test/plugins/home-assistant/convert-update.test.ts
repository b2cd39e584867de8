import assert from "node:assert/strict";
import { test } from "node:test";
import { calls, entity, isConfirmed, view } from "./entity.ts";

const YES_NO = { type: "boolean", readOnly: true } as const;
const TEXT = { type: "text", readOnly: true } as const;
const LAMP = {
  auto_update: false,
  title: "Lamp",
  installed_version: "1.0",
  latest_version: "1.2",
  in_progress: false,
  update_percentage: null,
  skipped_version: null,
  supported_features: 7,
  release_summary: "Less flicker",
  release_url: "https://example.com/notes",
};
const at = (state: string, more: object = {}) => entity("update", state, { ...LAMP, ...more });

test("an update shows versions and notes, and can be installed and skipped", () => {
  const of = view(at("on"));

  assert.equal(of.kind, "update");
  assert.deepEqual(of.capabilities, {
    updateAvailable: YES_NO,
    installedVersion: TEXT,
    latestVersion: TEXT,
    progress: { type: "number", min: 0, max: 100, unit: "%", readOnly: true },
    install: { type: "command" },
  });
  assert.deepEqual(of.state, {
    updateAvailable: true,
    installedVersion: "1.0",
    latestVersion: "1.2",
    progress: null,
  });
  assert.deepEqual(of.extra?.capabilities, {
    installing: { ...YES_NO, group: "main" },
    product: { ...TEXT, group: "main" },
    releaseNotes: { ...TEXT, group: "main" },
    releaseUrl: { ...TEXT, group: "main" },
    skippedVersion: { ...TEXT, group: "configuration" },
    skip: { type: "command", group: "configuration" },
    installVersion: { type: "text", group: "configuration" },
  });
  assert.deepEqual(of.extra?.state, {
    installing: false,
    product: "Lamp",
    releaseNotes: "Less flicker",
    releaseUrl: "https://example.com/notes",
    skippedVersion: null,
    installVersion: null,
  });
});

test("an update is installed, skipped and given a version only if it can be", () => {
  const of = view(at("off", { supported_features: 0, auto_update: true }));
  const extras = Object.keys(of.extra?.capabilities ?? {});

  assert.equal(of.capabilities["install"], undefined);
  assert.equal(extras.includes("skip"), false);
  assert.equal(extras.includes("installVersion"), false);
  const onlyVersion = view(at("off", { supported_features: 2 }));
  assert.equal("installVersion" in (onlyVersion.extra?.capabilities ?? {}), false);
});

for (const [attributes, installing, progress] of [
  [{ in_progress: true, update_percentage: 42.5 }, true, 42.5],
  [{ in_progress: true, update_percentage: null }, true, null],
  [{ in_progress: 30 }, true, 30],
  [{ in_progress: false, update_percentage: 10 }, false, null],
  [{ in_progress: true, update_percentage: 101 }, true, null],
  [{ in_progress: "yes" }, false, null],
] as const) {
  test(`an update with ${JSON.stringify(attributes)} is ${installing ? "" : "not "}installing, at ${progress} %`, () => {
    const of = view(at("on", attributes));
    assert.deepEqual([of.extra?.state["installing"], of.state["progress"]], [installing, progress]);
  });
}

test("an update whose versions are not known is unknown", () => {
  const of = view(entity("update", "unknown", { installed_version: null }));

  assert.deepEqual(of.state, {
    updateAvailable: null,
    installedVersion: null,
    latestVersion: null,
    progress: null,
  });
});

for (const [command, call] of [
  [{ install: true }, ["update.install"]],
  [{ installVersion: "1.1" }, ["update.install", { version: "1.1" }]],
  [{ install: true, installVersion: "1.1" }, ["update.install", { version: "1.1" }]],
  [{ skip: true }, ["update.skip"]],
] as const) {
  test(`the command ${JSON.stringify(command)} to an update calls ${call[0]} once`, () => {
    assert.deepEqual(calls(at("on"), command), [call]);
  });
}

for (const [command, now, is] of [
  [{ install: true }, at("on", { in_progress: true }), true],
  [{ install: true }, at("off", { installed_version: "1.2" }), true],
  [{ install: true }, at("on"), false],
  [{ installVersion: "1.0" }, at("on"), true],
  [{ installVersion: "1.1" }, at("on"), false],
  [{ installVersion: "1.1" }, at("on", { in_progress: 1 }), true],
  [{ skip: true }, at("off"), true],
  [{ skip: true }, at("on"), false],
] as const) {
  test(`${JSON.stringify(command)} is ${is ? "" : "not "}confirmed when an update is ${now.state}, with ${JSON.stringify(now.attributes["in_progress"])}`, () => {
    assert.equal(isConfirmed(command, at("on"), now), is);
  });
}
