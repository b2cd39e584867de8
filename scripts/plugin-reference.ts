// npm run plugin-reference [-- --check]: writes docs/plugin-reference.md from schemas, docstrings and the theme. With
// --check it writes nothing and fails if the page is not up to date.

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { DeviceDescription, DeviceUpdate } from "@mantel/plugin-sdk/device";
import { Manifest } from "@mantel/plugin-sdk/manifest";
import { SceneDescription } from "@mantel/plugin-sdk/scene";
import type { TSchema } from "typebox";
import {
  baseOf,
  docsOfKeys,
  type Member,
  membersOf,
  methodsOf,
  schemaSource,
} from "./plugin-reference/members.ts";

const ROOT = resolve(import.meta.dirname, "..");
const PAGE = join(ROOT, "docs/plugin-reference.md");

/** Interfaces by heading, as file and name. */
const INTERFACES = {
  "The plugin": [
    ["plugin.ts", "PluginDefinition"],
    ["plugin.ts", "RunningPlugin"],
    ["device.ts", "CommandBeyond", "the last argument of command"],
  ],
  "The context of a plugin": [
    ["context.ts", "PluginContext", "ctx"],
    ["context.ts", "DevicePublisher", "ctx.devices"],
    ["context.ts", "ScenePublisher", "ctx.scenes"],
    ["channel.ts", "ChannelPublisher", "ctx.channels.<name>"],
    ["channel.ts", "ChannelReader", "ctx.channel(name, schema)"],
    ["home.ts", "Home", "ctx.home"],
    ["home.ts", "HomeDevices", "ctx.home.devices"],
    ["home.ts", "HomeEvents", "ctx.home.events"],
    ["home.ts", "HomeFailures", "ctx.home.failures"],
    ["home.ts", "HomeScenes", "ctx.home.scenes"],
    ["schedule.ts", "Schedule", "ctx.schedule"],
    ["discovery.ts", "Discover", "ctx.discover"],
    ["context.ts", "Storage", "ctx.storage"],
    ["context.ts", "StorageJournal", "await ctx.storage.journal(name)"],
    ["sources.ts", "Sources", "ctx.sources"],
    ["context.ts", "PluginStatus", "ctx.status"],
    ["context.ts", "PluginRoutes", "ctx.routes"],
    ["context.ts", "Log", "ctx.log"],
  ],
  "Services and routes": [
    ["service.ts", "ServiceOptions", "defineService(name, options)"],
    ["route.ts", "RouteOptions", "defineRoute(options)"],
    ["route.ts", "RouteRequest", "handle(route, (request) => …)"],
    ["route.ts", "RouteAnswer", "handle(route, () => answer)"],
  ],
  "The context of a test of options and of a setup": [
    ["trial.ts", "TrialContext", "ctx of test"],
    ["trial.ts", "SetupContext", "ctx of setup"],
    ["trial.ts", "SetupStep", "ctx.show(step)"],
  ],
  "The widget": [
    ["widget.ts", "WidgetDefinition"],
    ["widget.ts", "WidgetHandle"],
    ["widget.ts", "WidgetContext", "ctx"],
    ["i18n.ts", "I18n", "ctx"],
    ["i18n.ts", "Formats", "ctx.fmt"],
    ["widget.ts", "TileSize", "ctx.size.value"],
  ],
  "The test kit of widgets": [
    ["widget-testing/fake-context.ts", "WidgetTestOptions", "mountWidget(widget, options)"],
    ["widget-testing/mount.ts", "TestedWidget", "mountWidget(…)"],
    ["widget-testing/fake-context.ts", "Recorded", "mountWidget(…)"],
    ["widget-testing/chromium.ts", "OpenWidgetOptions", "openWidget(widget, options)"],
    ["widget-testing/chromium.ts", "OpenedWidget", "await openWidget(…)"],
  ],
  "The test kit of plugins": [
    ["testing.ts", "TestHostOptions", "startPlugin(plugin, options)"],
    ["testing.ts", "RunningTest", "await startPlugin(…)"],
    ["testing-home.ts", "FakeHomeOptions", "options.home"],
    ["testing-device.ts", "FakeDevice", "options.home.devices[…]"],
    ["testing-home.ts", "RecordedCommand", "running.home.commands[…]"],
    ["testing-network.ts", "FakeNetwork", "options.network"],
    ["testing-trials.ts", "TrialTestOptions", "testOptions(plugin, options)"],
    ["testing-trials.ts", "SetUpOptions", "setUp(plugin, options)"],
    ["testing-trials.ts", "SetUpResult", "await setUp(…)"],
  ],
} as const satisfies Record<string, readonly (readonly [string, string, string?])[]>;

/** The schemas of the data that a bridge publishes, as file, name and where it is given. */
const PUBLISHED = [
  ["device.ts", "DeviceDescription", "ctx.devices.publish([…])", DeviceDescription],
  ["device.ts", "DeviceUpdate", "ctx.devices.update(…)", DeviceUpdate],
  ["scene.ts", "SceneDescription", "ctx.scenes.publish([…])", SceneDescription],
] as const;

/** The page, before it is formatted. */
async function referencePage(): Promise<string> {
  return [
    INTRODUCTION,
    manifestSection(),
    ...Object.entries(INTERFACES).map(([title, entries]) => interfacesSection(title, entries)),
    fakesSection(),
    publishedSection(),
    eventsSection(),
    propertiesSection(),
    policySection(),
  ].join("\n\n");
}

/** The text without what the formatter changes. */
export const unformatted = (text: string): string =>
  text
    .replace(/[ \n]+/g, " ")
    .replace(/-{3,}/g, "---")
    .trim();

const INTRODUCTION = `# Reference for plugins

This page is made by \`npm run plugin-reference\` from schemas, docstrings and the theme. The [guide](plugin-guide/README.md)
explains them; [devices](devices.md) has the kinds of devices and their capabilities.`;

function manifestSection(): string {
  const docs = (file: string) => docsOfKeys(sourceOf(file));
  const own = docs("manifest.ts");
  const parts = new Map([
    ["needs", docs("needs.ts")],
    ["permissions", docs("permissions.ts")],
    ["permissions.home", docs("home-permissions.ts")],
  ]);
  const rows = keysOf(Manifest).map(({ path, schema, isOptional }) => {
    const names = path.split(".");
    const key = (names.at(-1) ?? "").replace("[]", "");
    const above = [...parts.keys()].filter((part) => path.startsWith(`${part}.`)).at(-1);
    const doc = (above === undefined ? own : parts.get(above))?.get(key) ?? "";
    const facts = [shapeOf(schema), ...(isOptional ? [] : ["required"])];
    return `- \`${path}\` (${facts.join("; ")})${doc === "" ? "" : `: ${doc}`}`;
  });
  return `## Manifest\n\nThe keys below \`mantel\` in \`package.json\`.\n\n${rows.join("\n")}`;
}

interface Key {
  readonly path: string;
  readonly schema: JsonSchema;
  readonly isOptional: boolean;
}

interface JsonSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly enum?: readonly unknown[];
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly anyOf?: readonly JsonSchema[];
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

function keysOf(schema: TSchema | JsonSchema, above = ""): Key[] {
  const { properties = {}, required = [] } = schema as JsonSchema;
  return Object.entries(properties).flatMap(([name, value]) => {
    const path = above + name;
    const own = { path, schema: value, isOptional: !required.includes(name) };
    const [entry] = Object.values(value.patternProperties ?? {});
    if (entry)
      return [own, ...(entry.anyOf ?? [entry]).flatMap((each) => keysOf(each, `${path}.*.`))];
    return [own, ...(value.items ? keysOf(value.items, `${path}[].`) : keysOf(value, `${path}.`))];
  });
}

function shapeOf({ type, items, anyOf, minimum, maximum, ...schema }: JsonSchema): string {
  const { enum: values, patternProperties } = schema;
  if (values)
    return values.length > 8
      ? "one of the kinds"
      : values.map((each) => `\`${String(each)}\``).join(", ");
  if (items) return `list of: ${shapeOf(items)}`;
  if (anyOf) return anyOf.map(shapeOf).join("; or ");
  if (patternProperties) return "object by name";
  if (minimum !== undefined && maximum !== undefined) return `${type}, ${minimum} to ${maximum}`;
  return schema.description ?? type ?? "";
}

function interfacesSection(
  title: string,
  entries: readonly (readonly [file: string, name: string, shown?: string])[],
): string {
  const lists = entries.map(([file, name, shown]) => {
    const heading = shown === undefined ? `\`${name}\`` : `\`${shown}\` (\`${name}\`)`;
    const source = sourceOf(file);
    const base = baseOf(source, name);
    const inherited = base === "" ? "" : `Has the members of \`${base}\`, and:\n\n`;
    return `### ${heading}\n\n${inherited}${listOf(membersOf(source, name))}`;
  });
  return `## ${title}\n\n${lists.join("\n\n")}`;
}

function publishedSection(): string {
  const lists = PUBLISHED.map(([file, name, shown, schema]) => {
    const docs = docsOfKeys(schemaSource(sourceOf(file), name));
    const keys = keysOf(schema).filter(({ path }) => !path.includes("*"));
    const rows = keys.map(({ path, schema: shape, isOptional }) => {
      const facts = [shapeOf(shape), ...(isOptional ? [] : ["required"])].filter(Boolean);
      const doc = docs.get(path);
      return `- \`${path}\` (${facts.join("; ")})${doc === undefined ? "" : `: ${doc}`}`;
    });
    return `### \`${shown}\` (\`${name}\`)\n\n${rows.join("\n")}`;
  });
  return `## Devices and scenes of a bridge\n\n${lists.join("\n\n")}`;
}

/** The classes of the test kit, which tests get and do not make. */
function fakesSection(): string {
  const lists = [
    ["testing-home.ts", "FakeHome", "running.home"],
    ["testing-schedule.ts", "FakeClock", "running.clock"],
  ].map(([file = "", name = "", shown]) => {
    const methods = methodsOf(sourceOf(file), name).filter(
      ({ signature }) => !signature.startsWith("attach("),
    );
    return `### \`${shown}\` (\`${name}\`)\n\n${listOf(methods)}`;
  });
  return lists.join("\n\n");
}

function listOf(members: readonly Member[]): string {
  return members
    .map(({ signature, doc }) => `- \`${signature}\`${doc === "" ? "" : `<br>${doc}`}`)
    .join("\n");
}

function eventsSection(): string {
  const source = readFileSync(join(ROOT, "host/api/events.ts"), "utf8");
  const members = membersOf(source, "ApiEvents").map(({ signature, doc }) => ({
    signature: signature.replace(/^"([^"]+)"/, "$1").replaceAll("readonly ", ""),
    doc,
  }));
  return `## Events\n\nThe topics of the event stream \`GET /events\`, with their data.\n\n${listOf(members)}`;
}

function propertiesSection(): string {
  const rows = [...themeValues()].map(([name, byTheme]) => {
    const light = byTheme.get("light");
    const dark = `\`${byTheme.get("dark") ?? ""}\``;
    return `- \`${name}\`: ${dark}${light === undefined ? "" : `, light \`${light}\``}`;
  });
  return `## Custom properties of CSS\n\nFor the \`styles\` of a widget; in the light theme the same unless given.\n\n${rows.join("\n")}`;
}

function themeOf(selector: string): "dark" | "light" | "night" {
  if (selector.includes("night") && !selector.includes("dark")) return "night";
  return selector.includes('data-theme="light"') ? "light" : "dark";
}

/** The values of the theme's custom properties, by property and then by theme. */
function themeValues(): Map<string, Map<string, string>> {
  const css = readFileSync(join(ROOT, "plugin-sdk/ui/theme.css"), "utf8");
  const values = new Map<string, Map<string, string>>();
  for (const [, selector = "", block = ""] of css
    .replaceAll(/\/\*[^]*?\*\//g, "")
    .matchAll(/([^{}]+)\{([^{}]*)\}/g)) {
    const theme = themeOf(selector);
    if (theme === "night") continue;
    for (const [, name = "", value = ""] of block.matchAll(/(--mantel-[\w-]+):\s*([^;]+);/g)) {
      const known = values.get(name) ?? new Map<string, string>();
      if (!known.has(theme)) known.set(theme, value.replaceAll(/\s+/g, " ").trim());
      values.set(name, known);
    }
  }
  return values;
}

function policySection(): string {
  const source = readFileSync(join(ROOT, "host/assets/build-shell.ts"), "utf8");
  const [, listed = ""] = /const FRAME_POLICY = \[([^\]]*)\]/.exec(source) ?? [];
  const directives = [...listed.matchAll(/"([^"]+)"/g)].map(([, directive = ""]) => directive);
  if (directives.length === 0) throw new Error("build-shell.ts has no FRAME_POLICY");
  return `## Content policy of a widget in a frame

Besides the dashboard's own script, by its hash, and the widget's code as \`blob:\`:

${directives.map((directive) => `- \`${directive}\``).join("\n")}`;
}

const sourceOf = (file: string): string => readFileSync(join(ROOT, "plugin-sdk", file), "utf8");

async function main(): Promise<void> {
  const page = await referencePage();
  if (process.argv.includes("--check")) {
    if (unformatted(page) === unformatted(await readFile(PAGE, "utf8"))) return;
    console.error("docs/plugin-reference.md is not up to date; run `npm run plugin-reference`");
    process.exitCode = 1;
    return;
  }
  await writeFile(PAGE, page);
  const format = join(ROOT, "node_modules/.bin/oxfmt");
  await promisify(execFile)(format, ["-c", join(ROOT, ".ci/oxfmt.json"), PAGE]);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main();
