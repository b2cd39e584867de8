// npm run device-docs: writes docs/devices.md, the kinds of devices and their capabilities, from the vocabulary.

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { DEVICE_KINDS, type DeviceKind } from "@mantel/plugin-sdk/device";
import { type CanonicalCapabilities, KINDS, READINGS } from "@mantel/plugin-sdk/vocabulary";

const ROOT = resolve(import.meta.dirname, "..");
const PAGE = join(ROOT, "docs/devices.md");

/** By bridge, kind and capability, what a conformance test has done with it. */
const TESTED = JSON.parse(
  readFileSync(join(ROOT, "test/fixtures/conforming-devices.json"), "utf8"),
) as Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>>;

type Canonical = CanonicalCapabilities[string];

/** The page, before it is formatted. */
export function devicesPage(): string {
  const kinds = DEVICE_KINDS.map((kind) => {
    const { meaning, matter, homeAssistant, formerly = [], capabilities } = KINDS[kind];
    const sources = [
      ...(matter === undefined ? [] : [`Matter: ${matter}.`]),
      `Home Assistant: ${homeAssistant}.`,
      ...(formerly.length === 0 ? [] : [`May keep an id of the kind ${formerly.join(" or ")}.`]),
    ].join(" ");
    return `## ${kind}\n\n${sentence(meaning)} ${sources}\n\n${table(capabilities, kind)}${readingsOf(kind)}`;
  });
  const readings = `## Readings of every kind\n\n${table(READINGS)}`;
  return [INTRODUCTION, ...kinds, readings, COUNTERPARTS].join("\n\n");
}

const INTRODUCTION = `# Devices

This page is made from \`plugin-sdk/vocabulary/\` by \`npm run device-docs\`. A name means the same on every bridge. A
device may offer less: fewer values, a smaller range, a setting that is only read. Every device may have the
[readings](#readings-of-every-kind) at the end.

- A **reading** is reported. A **setting** is reported and can be set. A **command** takes \`true\` and has no state.
- Further functions of a device are **parts**, each with a kind: \`{"parts": {"light": {"on": true}}}\`.
- A device with \`"image": true\`, such as a camera or doorbell, has a **picture** at
  \`/smart-home/devices/<id>/image\`: a JPEG, PNG or WebP of at most 4 MiB.
- What a brand adds is under **extra**: \`{"extra": {"childLock": true}}\`.
- The host refuses a device that uses one of these names with another type, unit, range or set of values, or on another
  kind. A name that is not on this page is accepted and logged once; it belongs under \`extra\`.
- Of commands that wait for a busy device, the later of two that contradict each other is sent, such as \`stop\` after
  \`position\`. A command with a code is never mixed with another.`;

const COUNTERPARTS = `## What the bridges were tested against

"Tested on" names the bridges whose [conformance test](plugin-guide/09-the-conformance-suite.md) has a device or part of
the kind with the capability:

- **set**: every value was set and read back, of a text two and of very many levels 101; or a command was sent, and the
  device showed where it leads.
- **sent**: the bridge confirmed it, and nothing reports it.
- **read**: the device reported a value that fits.

What is not listed was not tested. The devices are simulated:

| bridge           | its counterpart in the tests                                                                              |
| ---------------- | --------------------------------------------------------------------------------------------------------- |
| \`zigbee2mqtt\`    | speaks Zigbee2MQTT's topics over a real broker; answers recorded from Zigbee2MQTT 2.14.1 are replayed, every definition of zigbee-herdsman-converters 26.112.0 is read, and a Zigbee2MQTT 2.14.1 runs in the long tests |
| \`ha-discovery\`   | devices that announce themselves as Home Assistant's documentation describes, and as Valetudo and rtl_433 do in their source, over a real broker |
| \`tasmota\`        | Tasmota devices as its source describes them, over a real broker                                         |
| \`hue\`            | a bridge whose answers and events are compared with the OpenHue description                               |
| \`home-assistant\` | a WebSocket server whose entities and services are compared with Home Assistant's documentation           |
| \`demo-home\`      | the simulation is the bridge itself                                                                       |`;

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** A table of capabilities; of those of a kind, with the bridges that they were tested on. */
function table(capabilities: CanonicalCapabilities, kind?: DeviceKind): string {
  const rows = Object.entries(capabilities).map(([name, canonical]) => [
    `\`${name}\`${canonical.isRequired ? " (always)" : ""}`,
    canonical.types.join(" or "),
    rangeOf(canonical),
    canonical.access,
    canonical.meaning,
    ...(kind === undefined ? [] : [testedOn(kind, name)]),
  ]);
  const head = ["name", "type", "unit, range, values", "access", "meaning"];
  const titles = kind === undefined ? head : [...head, "tested on"];
  return [titles, titles.map(() => "---"), ...rows].map(row).join("\n");
}

/** The bridges whose devices of the kind were tested with this capability, by what was done with it. */
function testedOn(kind: DeviceKind, name: string): string {
  const bridges = Object.entries(TESTED).flatMap(([bridge, byKind]) => {
    const tested = byKind[kind]?.[name];
    return tested === undefined ? [] : [[tested, bridge] as const];
  });
  const groups = ["set", "sent", "read"].map(
    (tested) => [tested, bridges.filter(([each]) => each === tested)] as const,
  );
  return groups
    .filter(([, found]) => found.length > 0)
    .map(([tested, found]) => `${tested}: ${found.map(([, bridge]) => bridge).join(", ")}`)
    .join("; ");
}

/** The readings that devices of the kind were tested with. */
function readingsOf(kind: DeviceKind): string {
  const names = Object.keys(READINGS).filter((name) => testedOn(kind, name) !== "");
  if (names.length === 0) return "";
  const rows = names.map((name) => row([`\`${name}\``, testedOn(kind, name)]));
  return `\n\n${[row(["reading", "tested on"]), row(["---", "---"]), ...rows].join("\n")}`;
}

const row = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;

function rangeOf(canonical: Canonical): string {
  const { min, max, values = [], hasOwnValues } = canonical;
  const unit: string = canonical.unit ?? "";
  const more = hasOwnValues ? ["the device's own"] : [];
  if (values.length > 0 || more.length > 0) {
    return [...values.map((value) => `\`${value}\``), ...more].join(", ");
  }
  if (min !== undefined && max !== undefined) return `${min} to ${max} ${unit}`.trim();
  if (min !== undefined) return `from ${min} ${unit}`.trim();
  return unit;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await writeFile(PAGE, `${devicesPage()}\n`);
  const oxfmt = join(ROOT, "node_modules/.bin/oxfmt");
  await promisify(execFile)(oxfmt, ["-c", join(ROOT, ".ci/oxfmt.json"), PAGE]);
}
