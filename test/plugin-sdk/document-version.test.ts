import assert from "node:assert/strict";
import { test } from "node:test";
import { migrated, NewerDocument } from "../../plugin-sdk/document-version.ts";

const add = (step: string) => (document: unknown) => ({
  ...(document as object),
  steps: [...((document as { steps?: string[] }).steps ?? []), step],
});
const VERSIONS = { version: 3, migrations: { 0: add("1"), 1: add("2"), 2: add("3") } };

for (const [version, steps] of [
  [0, ["1", "2", "3"]],
  [1, ["2", "3"]],
  [2, ["3"]],
] as const) {
  test(`a document of version ${version} is migrated step by step`, () => {
    assert.deepEqual(migrated({ version }, VERSIONS, "layout.json"), { version, steps });
  });
}

for (const document of [{}, { version: "1" }, { version: 1.5 }, { version: null }]) {
  test(`${JSON.stringify(document)} has version 0`, () => {
    assert.deepEqual(migrated(document, VERSIONS, "x"), { ...document, steps: ["1", "2", "3"] });
  });
}

for (const document of [null, 7, "text"]) {
  test(`${JSON.stringify(document)} has version 0, and is returned without a migration from it`, () => {
    assert.equal(migrated(document, { version: 1, migrations: {} }, "x"), document);
  });
}

test("a version that is inherited does not count", () => {
  const document = Object.create({ version: 9 }) as object;
  assert.equal(migrated(document, { version: 0, migrations: {} }, "x"), document);
});

test("a document of the newest version is returned as it is", () => {
  const document = { version: 3 };
  assert.equal(migrated(document, VERSIONS, "x"), document);
});

test("a document is unchanged when a step between the versions is missing", () => {
  const document = { version: 0 };
  const { 1: _, ...migrations } = VERSIONS.migrations;

  assert.equal(migrated(document, { version: 3, migrations }, "x"), document);
});

test("a newer document is refused with both versions and what to do", () => {
  assert.throws(
    () => migrated({ version: 4 }, VERSIONS, "layout.json"),
    (error) => {
      assert.ok(error instanceof NewerDocument);
      assert.equal(error.code, "invalid");
      assert.equal(
        error.message,
        "layout.json has version 4, but this Mantel supports versions up to 3; start the newer Mantel that wrote it, or restore a backup of this version",
      );
      return true;
    },
  );
});
