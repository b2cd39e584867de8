import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

/** A text of code that begins with the id, as `/calendar/events` or `mqtt.publish`; or has it elsewhere. */
type Place = "start" | "elsewhere";

/**
 * Ids of shipped plugins that stand in the host or the SDK, by file, with the reason. Whatever is added here needs one
 * that holds for every plugin's author.
 */
const REASONS: readonly (readonly [
  files: RegExp,
  ids: readonly string[],
  reason: string,
  place?: Place,
])[] = [
  [
    /./,
    ["mqtt"],
    "the HTTP contract names /mqtt/publish, and services are named after it",
    "start",
  ],
  [
    /./,
    ["calendar"],
    "the HTTP contract names /calendar, and services are named after it",
    "start",
  ],
  [
    /^host\/http\/routes\/calendar-feed\.ts$/,
    ["calendar"],
    "the media type of calendars (RFC 5545)",
  ],
  [
    /^(plugin-sdk\/(home-permissions|permission-words|runtime\/home)|host\/modules\/(calls\/home-api|consent\/requested-permissions))\.ts$/,
    ["calendar"],
    "an entry of permissions.home: the calendars of the home",
  ],
  [
    /^(plugin-sdk\/(needs|channel-names)|host\/dashboard\/(session|widget-context|frames\/widget-permissions|settings\/widget-view|calendar\/follow-event-forms))\.ts$/,
    ["calendar"],
    "the calendars of the home, as widgets read them",
  ],
  [/^host\/calendar\/(query|calendar)\.ts$/, ["calendar"], "a parameter of GET /calendar/events"],
  [
    /^host\/dashboard\/(settings\/calendars-page|setup\/setup-card)\.ts$/,
    ["calendar"],
    "a kind of thing that users add with whatever plugin has it (`adds` of the manifest)",
  ],
  [
    /^(host\/dashboard\/editor\/demo\.ts|plugin-sdk\/client\/api-types\.d\.ts)$/,
    ["calendar"],
    "services of the SDK for calendars, such as calendar.tasks",
  ],
  [/^host\/dashboard\/calendar\/words\.ts$/, ["calendar"], "the name of a table of texts"],
  [
    /^host\/dashboard\/automations\/(kinds|phrases)\.ts$/,
    ["calendar", "mqtt"],
    "triggers of automation documents, which the HTTP contract names",
  ],
  [
    /^host\/(modules\/build\/esbuild-plugin|config\/environment)\.ts$/,
    ["mqtt"],
    "the protocol: a part of the SDK, and the broker's address MANTEL_MQTT_URL",
  ],
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

/** Words that are also plugin ids: only a text of code that is the id, or has it between slashes or dots, counts. */
const WORDS = new Set(["system", "weather", "calendar", "mqtt", "hue", "automations"]);

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /\.(ts|js)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

function placesOf(id: string, code: string): Place[] {
  const [begins, holds] = WORDS.has(id)
    ? [`["'\`]/?${id}[/.]`, `["'\`]${id}["'\`]|[^"'\`]/${id}(["'\`/.]|$)`]
    : ["(?!)", `\\b${id}\\b`];
  return [
    ...(new RegExp(begins, "m").test(code) ? (["start"] as const) : []),
    ...(new RegExp(holds, "m").test(code) ? (["elsewhere"] as const) : []),
  ];
}

/** The source without comments, which may give examples, and without the packages that it imports. */
function codeOf(source: string): string {
  return source
    .replace(/\/\*[^]*?\*\//g, "")
    .replace(/(^|\s)\/\/.*$/gm, "")
    .replace(/ from "[^"]+";$/gm, "");
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
    for (const id of ids) {
      for (const place of placesOf(id, code)) {
        const allowed = REASONS.find(
          ([files, names, , only = place]) =>
            files.test(file) && names.includes(id) && only === place,
        );
        if (allowed) used.add(allowed[2]);
        else found.push(`${file} names ${id}`);
      }
    }
  }
  assert.deepEqual(found, []);
  const unused = REASONS.filter(([, , reason]) => !used.has(reason));
  assert.deepEqual(unused, []);
});

test("an id counts anywhere in a path and as a whole text", () => {
  for (const code of [
    'const CONFIG = "/modules/calendar/config";',
    "get(`${prefix}/modules/calendar`)",
    'new ModuleOptions(parts, "calendar", "sources")',
  ]) {
    assert.deepEqual(placesOf("calendar", code), ["elsewhere"], code);
  }
  assert.deepEqual(placesOf("calendar", 'get("/calendar/events")'), ["start"]);
  assert.deepEqual(placesOf("calendar", 'text("my calendar")'), []);
  assert.deepEqual(placesOf("photo-widget", 'show("the photo-widget here")'), ["elsewhere"]);
});
