import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const REPOSITORY = resolve(import.meta.dirname, "../../..");

test("the list of built-in plugins matches git", async () => {
  const { stdout } = await promisify(execFile)("git", ["ls-files", "plugins/*/package.json"], {
    cwd: REPOSITORY,
  });
  const inGit = stdout
    .trim()
    .split("\n")
    .map((file) => file.split("/")[1]);

  const listed: unknown = JSON.parse(
    await readFile(join(REPOSITORY, "plugins/shipped.json"), "utf8"),
  );

  assert.deepEqual(
    listed,
    inGit.toSorted((a = "", b = "") => a.localeCompare(b)),
  );
});
