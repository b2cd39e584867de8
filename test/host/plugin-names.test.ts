import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

/**
 * Ids of shipped plugins that stand in the host or the SDK, by file, with the reason. Whatever is added here needs one
 * that holds for every plugin's author.
 */
const REASONS: readonly (readonly [files: RegExp, ids: readonly string[], reason: string])[] = [
  [/./, ["mqtt"], "a protocol that the SDK speaks and the HTTP contract names (/mqtt/publish)"],
  [/./, ["calendar"], "the HTTP contract names calendars (/calendar), which the host merges"],
  [
    /^plugin-sdk\/channel-names\.ts$/,
    ["system", "weather"],
    "former channels, with their new names",
  ],
  [
    /^host\/config\/schema\.ts$/,
    ["zigbee2mqtt"],
    "a topic that the HTTP contract denies by default",
  ],
  [
    /^(host\/dashboard\/|plugin-sdk\/client\/api-types\.d\.ts$)/,
    ["automations"],
    "the HTTP contract names automations (/automations), which any plugin may serve",
  ],
  [
    /^(plugin-sdk\/conformance\/values|host\/dashboard\/automations\/home)\.ts$/,
    ["hue"],
    "the hue of a colour",
  ],
  [
    /^plugin-sdk\/vocabulary\/kinds\.ts$/,
    ["weather"],
    "a word of Home Assistant for a kind of device",
  ],
];

/** Words that are also plugin ids: only a text of code that is exactly the id, or begins a path with it, counts. */
const WORDS = new Set(["system", "weather", "calendar", "mqtt", "hue", "automations"]);

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /\.(ts|js)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

function isNamed(id: string, code: string): boolean {
  const text = WORDS.has(id) ? `["'\`]/?${id}(["'\`/.]|$)` : `\\b${id}\\b`;
  return new RegExp(text, "m").test(code);
}

/** The source without comments, which may give examples. */
function codeOf(source: string): string {
  return source.replace(/\/\*[^]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "");
}

test("the host and the SDK name no shipped plugin without a reason", async () => {
  const ids = (await readdir("plugins", { withFileTypes: true }))
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  assert.ok(ids.length > 20);
  const found: string[] = [];
  const used = new Set<string>();
  for (const file of [...(await filesBelow("host")), ...(await filesBelow("plugin-sdk"))]) {
    if (file.includes("node_modules")) continue;
    const code = codeOf(await readFile(file, "utf8"));
    for (const id of ids.filter((each) => isNamed(each, code))) {
      const allowed = REASONS.find(([files, names]) => files.test(file) && names.includes(id));
      if (allowed) used.add(allowed[2]);
      else found.push(`${file} names ${id}`);
    }
  }
  assert.deepEqual(found, []);
  const unused = REASONS.filter(([, , reason]) => !used.has(reason));
  assert.deepEqual(unused, []);
});
