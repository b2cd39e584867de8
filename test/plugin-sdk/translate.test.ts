import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { translate } from "@mantel/plugin-sdk/translate";

const texts = { de: { "{count} left": "noch {count}" } };
const PLUGINS = join(import.meta.dirname, "../../plugins");

test("a text is translated into the language of the home, with its values", () => {
  const say = (locale: string) =>
    translate("{count} left", { texts, locale, values: { count: 2 } });

  assert.deepEqual(["de-AT", "en-GB", "fr"].map(say), ["noch 2", "2 left", "2 left"]);
});

test("a text or placeholder without a translation or value stays unchanged", () => {
  assert.equal(translate("Off", { texts, locale: "de" }), "Off");
  assert.equal(translate("{constructor}", { texts, locale: "de" }), "{constructor}");
  assert.equal(translate("toString", { texts, locale: "de" }), "toString");
});

test("every text passed to t in a widget has a German translation", async () => {
  const names = (await readdir(PLUGINS)).filter((name) => name.endsWith("-widget"));
  const shared = await readFile(join(PLUGINS, "../plugin-sdk/ui/device-texts.ts"), "utf8");

  for (const name of names) {
    const code = await codeOf(join(PLUGINS, name));
    const asked = [...code.matchAll(/\bt\(\s*"((?:[^"\\]|\\.)+)"/g)].map(([, text = ""]) => text);
    const known = `${code}\n${shared}\n${await germanPack(join(PLUGINS, name))}`;
    const missing = asked.filter((text) => !isKey(text, known));
    assert.deepEqual(missing, [], name);
  }
});

async function codeOf(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true });
  const files = entries.filter((file) => file.endsWith(".ts"));
  return (await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")))).join("\n");
}

/** The German language pack of a plugin, as text. */
async function germanPack(folder: string): Promise<string> {
  const file = join(folder, "languages/de.json");
  return existsSync(file) ? readFile(file, "utf8") : "";
}

/** True if the text is a key of a table of translations, in quotes unless it is a plain word. */
function isKey(text: string, code: string): boolean {
  return (
    code.includes(`"${text}":`) ||
    (/^\w+$/.test(text) && new RegExp(`^\\s+${text}:`, "m").test(code))
  );
}
