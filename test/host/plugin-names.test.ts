import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

/** Files that may name a plugin, or a text that may stand in them. */
interface Exception {
  readonly files: RegExp;
  readonly ids: readonly string[];
  /** The reason, which has to hold for the author of every plugin. */
  readonly reason: string;
  /** Only such texts; absent means all. */
  readonly text?: RegExp;
}

const EXCEPTIONS: readonly Exception[] = [
  // MQTT: the HTTP contract has /mqtt/publish, the config section mqtt and the error broker_down.
  {
    files:
      /^host\/(mqtt\/(publish|topic)|http\/routes\/(index|mqtt)|config\/(environment|schema))\.ts$/,
    ids: ["mqtt"],
    reason: "POST /mqtt/publish, and the config section mqtt",
  },
  {
    files: /^plugin-sdk\/(client\/api-types\.d\.ts|errors\.ts)$/,
    ids: ["mqtt", "mqtt-broker"],
    reason: "the HTTP contract: POST /mqtt/publish, and the error broker_down",
  },
  {
    files:
      /^plugin-sdk\/(mqtt\/[\w-]+\.ts|services\/(index|mqtt)\.ts|index\.ts|hosts\.ts|permissions\.ts|package\.json|README\.md)$/,
    ids: ["mqtt", "mqtt-broker"],
    reason:
      "the client of the protocol for every bridge, and the services mqtt.publish and mqtt.broker",
  },
  {
    files: /^plugin-sdk\/create\/templates\/service\//,
    ids: ["mqtt", "mqtt-broker"],
    reason: "the template of a service calls mqtt.publish",
  },
  {
    files: /^host\/modules\/build\/(esbuild-plugin|renamed-imports)\.ts$/,
    ids: ["mqtt"],
    reason: "an entry of the SDK, and a former name in it",
  },
  {
    files:
      /^host\/dashboard\/(settings\/(advanced-page|english|german)\.ts|languages\/\w\w\.json)$/,
    ids: ["mqtt", "mqtt-broker"],
    text: /MQTT[ -][Bb]roker|mqtt\.broker/g,
    reason: "the page Advanced leads to the plugin that provides the service mqtt.broker",
  },
  {
    files:
      /^host\/dashboard\/(automations\/(english|german|kinds|phrases)\.ts|languages\/\w\w\.json)$/,
    ids: ["mqtt", "calendar"],
    reason: "triggers and conditions of automation documents, and their texts",
  },

  // Calendars: the HTTP contract has /calendar/events and the event calendar.updated.
  {
    files: /^host\/(calendar|dashboard\/calendar)\//,
    ids: ["calendar"],
    reason: "GET /calendar/events, POST /calendar/sources/…, and their form",
  },
  {
    files:
      /^(host\/dashboard\/(form\/schema|editor\/named-things)|plugin-sdk\/widget-settings)\.ts$/,
    ids: ["calendar"],
    reason: "a setting of a tile that names a calendar of the home",
  },
  {
    files:
      /^host\/(api\/events|events\/sse|http\/(dependencies|event-schema|openapi|routes\/(index|calendar[a-z-]*))|host)\.ts$/,
    ids: ["calendar"],
    reason: "the routes below /calendar, and the event calendar.updated",
  },
  {
    files: /^host\/backup\/(archive|documents|paths)\.ts$/,
    ids: ["calendar"],
    text: /calendar-feeds/g,
    reason: "the file with the addresses of GET /calendar/feeds",
  },
  {
    files:
      /^(host\/modules\/(calls\/(calendar-chunks|host-api)|process\/(channel|forwarded-calls))|plugin-sdk\/(calendar|protocol|service|testing-host|services\/(index|calendar|calendar-tasks)|runtime\/(main|prestart-host|publishing)))\.ts$/,
    ids: ["calendar"],
    reason:
      "services and publications of the SDK that any plugin may provide, such as calendar.window",
  },
  {
    files:
      /^(host\/modules\/(calls\/home-api|consent\/requested-permissions)|plugin-sdk\/(home|home-permissions|manifest-rights|home-protocol|permission-words|testing-home|runtime\/home))\.ts$/,
    ids: ["calendar"],
    reason: "the calendars of the home as plugins read them, and their entry in permissions.home",
  },
  {
    files:
      /^(host\/dashboard\/(channels|session|widget-context|settings\/(english|german|permission-words|widget-view))|plugin-sdk\/(channel-names|needs|widget|widget-permissions|widget-testing\/fake-context|ui\/event-form))\.ts$/,
    ids: ["calendar"],
    reason: "the calendars of the home as widgets read them, and the words for that permission",
  },
  {
    files: /^plugin-sdk\/(index\.ts|package\.json|client\/api-types\.d\.ts)$/,
    ids: ["calendar"],
    reason: "exports of the SDK, and the HTTP contract",
  },
  {
    files:
      /^(host\/api\/module|host\/dashboard\/(settings\/(calendar-list|calendars-page|find-adder|settings)|setup\/(setup-card|words))|plugin-sdk\/manifest)\.ts$/,
    ids: ["calendar"],
    reason: "a kind of thing that users add with whatever plugin has it (`adds` of the manifest)",
  },
  {
    files: /^plugin-sdk\/client\/api-types\.d\.ts$/,
    ids: ["system", "weather"],
    reason: "the HTTP contract: GET /system and GET /weather, which any plugin may serve",
  },
  {
    files: /^host\/dashboard\/automations\/(live-home|part-form|templates)\.ts$/,
    ids: ["calendar"],
    reason: "triggers of automation documents with an event or a reminder of a calendar",
  },
  {
    files: /^host\/dashboard\/settings\/(access-page|english)\.ts$/,
    ids: ["automations", "calendar"],
    reason: "the HTTP contract: paths that any plugin may serve, where a token may only read",
  },
  {
    files: /^host\/dashboard\/automations\/import-page\.ts$/,
    ids: ["calendar"],
    text: /"calendar"/g,
    reason: "a kind of thing for which a file of another system has another name",
  },
  {
    files: /^host\/dashboard\/editor\/(demo|demo-data)\.ts$/,
    ids: ["calendar"],
    reason: "answers of the routes and services above for previews",
  },

  // Automations: the HTTP contract has /automations, which any plugin may serve.
  {
    files:
      /^(host\/dashboard\/(automations\/.+|languages\/\w\w\.json|i18n\/later\.ts|logbook\/(why-view|words)\.ts|overlay-route\.ts)|plugin-sdk\/client\/api-types\.d\.ts)$/,
    ids: ["automations"],
    reason: "the page of /automations, which any plugin may serve",
  },
  {
    files: /^plugin-sdk\/manifest\.ts$/,
    ids: ["automations"],
    text: /such as `automations`/g,
    reason: "an example of a folder, which the HTTP contract names",
  },

  // Words that mean something else.
  {
    files: /./,
    ids: ["hue"],
    text: /--(mantel-)?hue\b/g,
    reason: "the hue of a colour: custom properties of the theme",
  },
  {
    files:
      /^(host\/dashboard\/automations\/home|plugin-sdk\/(color|index|conformance\/values|ui\/(look-switch|oklch)))\.ts$/,
    ids: ["hue"],
    reason: "the hue of a colour",
  },
  {
    files: /./,
    ids: ["hue"],
    text: /\bhue:light:\d/g,
    reason: "the example of a device's id in the HTTP contract",
  },
  {
    files: /./,
    ids: ["weather"],
    text: /mdi:weather-[a-z-]+|^weather-[a-z-]+(?=: )/gm,
    reason: "names of icons of Material Design",
  },
  {
    files: /./,
    ids: ["weather"],
    text: /weather-station/g,
    reason: "a kind of device in the HTTP contract",
  },
  {
    files: /^plugin-sdk\/(ui\/control-words\.ts|languages\/\w\w\.json)$/,
    ids: ["weather"],
    text: /"Weather"/g,
    reason: "the name of the reading `condition` of a device",
  },
  {
    files: /^plugin-sdk\/(channel-names|widget-testing\/fake-context)\.ts$/,
    ids: ["system", "weather"],
    reason: "former channels, with their new names",
  },
  {
    files: /./,
    ids: ["system"],
    text: /\bsystem-(calls|ui)\b|-apple-system|FileSystem/g,
    reason: "calls of the operating system, and its font",
  },
  {
    files:
      /^(host\/dashboard\/editor\/(demo|demo-words|gallery)\.ts|plugin-sdk\/client\/api-types\.d\.ts)$/,
    ids: ["demo-home"],
    text: /\bdemo home\b/g,
    reason: "the home of previews and simulations, which no plugin brings",
  },
  {
    files: /^host\/config\/schema\.ts$/,
    ids: ["zigbee2mqtt"],
    reason: "a topic that the HTTP contract denies by default",
  },
  {
    files: /^plugin-sdk\/vocabulary\/readings\.ts$/,
    ids: ["home-assistant"],
    reason: "a source of the definitions, beside the Matter specification",
  },
];

/**
 * Words that are also plugin ids. Only a name counts: a whole text, a part of a path, of an id, of an identifier or of
 * a file's name; of Hue also the brand in a sentence.
 */
const WORDS = new Set(["system", "weather", "calendar", "mqtt", "hue", "automations"]);

const IS_TEXT = /\.(ts|js|mjs|css|json|html|md|svg|sh|template)$/;

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && IS_TEXT.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes("node_modules"));
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** Patterns of all spellings: `home-assistant`, `Home Assistant`, `homeAssistant`, `fromHomeAssistant`. */
function patternsOf(id: string): RegExp[] {
  if (!WORDS.has(id)) {
    const words = id.split("-");
    return [
      new RegExp(`(?<![a-z0-9])${words.join("[-_ ]?")}(?![a-z0-9])`, "i"),
      new RegExp(`(?<![a-z0-9])${words.join("[-_ ]?")}(?=[A-Z])`),
      new RegExp(`(?<=[a-z0-9])${words.map(capital).join("[-_ ]?")}(?![a-z0-9])`),
      new RegExp(`\\b${words.map((word, at) => (at === 0 ? word : capital(word))).join("")}`),
    ];
  }
  const word = capital(id);
  return [
    new RegExp(`["'\`>]${id}["'\`<]`, "i"),
    new RegExp(`/${id}(?=["'\`/.?])|["'\`]${id}[/.]|\\b${id}:(?=[a-z])`),
    new RegExp(`\\b${id}(?=[A-Z]|[-_][A-Za-z])|(?<=[A-Za-z])[-_]${id}\\b`),
    new RegExp(`(?<=[a-z])${word}(?![a-z])|\\b${word}(?=[A-Z])`),
    ...(id === "hue" ? [/(?<=[a-z,`] ?)Hue(?![a-z])/] : []),
  ];
}

/** The file's name, and its text without the packages and files that it imports. */
const textOf = (file: string, source: string): string =>
  `${file}\n${source.replace(/ from "[^"]+";$/gm, "")}`;

const names = (id: string, text: string): boolean =>
  patternsOf(id).some((pattern) => pattern.test(text));

test("the host and the SDK name no shipped plugin without a reason", async () => {
  const ids = (await readdir("plugins", { withFileTypes: true }))
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  assert.ok(ids.length > 20);
  const found: string[] = [];
  const used = new Set<Exception>();
  for (const file of [...(await filesBelow("host")), ...(await filesBelow("plugin-sdk"))]) {
    const whole = textOf(file, await readFile(file, "utf8"));
    for (const id of ids.filter((each) => names(each, whole))) {
      let text = whole;
      for (const exception of EXCEPTIONS) {
        if (!exception.files.test(file) || !exception.ids.includes(id)) continue;
        const rest = exception.text ? text.replaceAll(exception.text, "…") : "";
        if (rest !== text) used.add(exception);
        text = rest;
      }
      if (names(id, text)) found.push(`${file} names ${id}`);
    }
  }
  assert.deepEqual(found, []);
  assert.deepEqual(
    EXCEPTIONS.filter((each) => !used.has(each)).map(({ reason }) => reason),
    [],
  );
});

test("a name counts in every spelling, and a word only where it is a name", () => {
  for (const text of [
    "importFromHomeAssistant",
    "of Home Assistant",
    "homeAssistant: x",
    '"home_assistant"',
    "homeAssistantUrl",
  ]) {
    assert.ok(names("home-assistant", text), text);
  }
  assert.ok(names("photo-widget", 'show("the photo-widget here")'));
  for (const text of [
    'const CONFIG = "/modules/calendar/config";',
    "get(`${prefix}/modules/calendar`)",
    'new ModuleOptions(parts, "calendar", "sources")',
    'get("/calendar/events")',
    '"Calendar": "Kalender"',
    "calendarPage",
    "openCalendar",
    "host/calendar-page.ts",
    "<b>Calendar</b>",
  ]) {
    assert.ok(names("calendar", text), text);
  }
  assert.ok(names("hue", "such as a Hue bridge"));
  for (const text of ['text("my calendar")', "the calendars", "// a calendar of the home"]) {
    assert.ok(!names("calendar", text), text);
  }
});
