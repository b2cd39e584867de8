import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { test } from "node:test";
import { clientDocument, sourceLine } from "../../scripts/client-types.ts";

const TYPES = resolve(import.meta.dirname, "../../plugin-sdk/client/api-types.d.ts");

test("the client has the types of the API as it is; `npm run client-types` writes them", async () => {
  const [line] = (await readFile(TYPES, "utf8")).split("\n");

  assert.equal(line, sourceLine(clientDocument()));
});
