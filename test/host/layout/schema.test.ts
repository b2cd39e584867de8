import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { LayoutInput } from "../../../host/api/layout.ts";
import { parseLayout } from "../../../host/layout/parse.ts";

const LAYOUTS = resolve(import.meta.dirname, "../../../layouts");

test("layout.schema.json matches the host's checks (MANTEL_WRITE_SCHEMA=1 writes it)", async () => {
  const path = join(LAYOUTS, "layout.schema.json");
  const schema = { $schema: "https://json-schema.org/draft/2020-12/schema", ...LayoutInput };
  const text = `${JSON.stringify(schema, undefined, 2)}\n`;
  if (process.env["MANTEL_WRITE_SCHEMA"]) await writeFile(path, text);

  assert.deepEqual(JSON.parse(await readFile(path, "utf8")), JSON.parse(text));
});

test("the default layout is valid for the host", async () => {
  const text = await readFile(join(LAYOUTS, "default.json"), "utf8");

  const { pages } = parseLayout(JSON.parse(text));

  assert.equal(pages[0]?.id, "home");
  const modules = new Set(pages[0]?.widgets.map(({ module }) => module));
  for (const kind of ["clock", "agenda", "scenes", "room", "system"]) {
    assert.ok(modules.has(`${kind}-widget`), `${kind}-widget is on the first page`);
  }
});

test("tiles of the default layout do not overlap", async () => {
  const { pages } = parseLayout(JSON.parse(await readFile(join(LAYOUTS, "default.json"), "utf8")));

  for (const { widgets } of pages) {
    const taken = new Map<string, string>();
    for (const { id, geometry } of widgets) {
      const { x, y, w, h } = geometry.lg;
      for (let column = x; column < x + w; column++) {
        for (let row = y; row < y + h; row++) {
          const cell = `${column},${row}`;
          assert.equal(taken.get(cell), undefined, `${id} lies on ${taken.get(cell)}`);
          taken.set(cell, id);
        }
      }
    }
  }
});
