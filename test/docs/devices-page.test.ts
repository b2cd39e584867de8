import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { test } from "node:test";
import { devicesPage } from "../../scripts/devices-page.ts";

/** The text without what the formatter changes. */
const unformatted = (text: string) =>
  text
    .replace(/[ \n]+/g, " ")
    .replace(/-{3,}/g, "---")
    .trim();

test("docs/devices.md has the vocabulary as it is; `npm run device-docs` writes it", async () => {
  const page = await readFile(resolve(import.meta.dirname, "../../docs/devices.md"), "utf8");

  assert.equal(unformatted(page), unformatted(devicesPage()));
});
