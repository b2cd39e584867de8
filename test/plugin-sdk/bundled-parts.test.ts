import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import * as sdk from "@mantel/plugin-sdk";

const SDK_FOLDER = resolve(import.meta.dirname, "../../plugin-sdk");

/** The values that a file imports from the folder above. */
function importedValues(source: string): string[] {
  const imports = [...source.matchAll(/^import \{([^}]*)\} from "\.\.\/[^"]+";/gm)];
  const names = imports.flatMap(([, list = ""]) => list.split(","));
  return names.map((name) => name.trim()).filter((name) => name !== "" && !/^type\s/.test(name));
}

for (const part of ["mqtt", "vocabulary"]) {
  test(`the SDK exports everything that ${part} imports, for the plugins that it is bundled with`, () => {
    const folder = join(SDK_FOLDER, part);
    const files = readdirSync(folder).filter((name) => name.endsWith(".ts"));

    const missing = files.flatMap((name) =>
      importedValues(readFileSync(join(folder, name), "utf8"))
        .filter((value) => !Object.hasOwn(sdk, value))
        .map((value) => `${name}: ${value}`),
    );

    assert.deepEqual(missing, []);
  });
}
