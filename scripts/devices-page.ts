// npm run device-docs: writes docs/devices.md, the kinds of devices and their capabilities, from the vocabulary.

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { DEVICE_KINDS, type DeviceKind } from "@mantel/plugin-sdk/device";
import { type CanonicalCapabilities, KINDS, READINGS } from "@mantel/plugin-sdk/vocabulary";
import { PLATFORMS } from "../plugins/home-assistant/platforms.ts";

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
    const { meaning, matter, formerly = [], capabilities } = KINDS[kind];
    const sources = [
      ...(matter === undefined ? [] : [`Matter: ${matter}.`]),
      `Home Assistant: ${PLATFORMS[kind]}.`,
      ...(formerly.length === 0 ? [] : [`May keep an id of the kind ${formerly.join(" or ")}.`]),
    ].join(" ");
    return `## ${kind}\n\n${sentence(meaning)} ${sources}\n\n${listOf(capabilities)}${testsOf(kind)}`;
  });
  const readings = `## Readings of every kind\n\nEach is only reported.\n\n${listOf(READINGS, true)}`;
  return [INTRODUCTION, ...kinds, readings, COUNTERPARTS].join("\n\n");
}

const INTRODUCTION = `# Devices

This page is made from \`plugin-sdk/vocabulary/\` by \`npm run device-docs\`. A name means the same on every bridge. A
device may offer less: fewer values, a smaller range, a setting that is only read. Every device may have the
[readings](#readings-of-every-kind) at the end.

- In parentheses stand the values (of a number its range and unit, of a choice its values or \`its own\`), the access, and \`always\` if
  each device of the kind has it. A **reading** is reported. A **setting** is reported and can be set. A **command** takes
  \`true\` and has no state.
- Further functions of a device are **parts**, each with a kind: \`{"parts": {"light": {"on": true}}}\`.
- A device with \`"image": true\`, such as a camera or doorbell, has a **picture** at
  \`/smart-home/devices/<id>/image\`: a JPEG, PNG or WebP of at most 4 MiB.
- \`live\` names the forms of its **live picture**: \`frames\` is motion JPEG at \`/smart-home/devices/<id>/frames\`; \`video\`
  is WebRTC, whose offer is sent to \`/smart-home/devices/<id>/video\`.
- What a brand adds is under **extra**: \`{"extra": {"childLock": true}}\`.
- The host refuses a device that uses one of these names with another type, unit, range or set of values, or on another
  kind. A name that is not on this page is accepted and logged once; it belongs under \`extra\`.
- Of commands that wait for a busy device, the later of two that contradict each other is sent, such as \`stop\` after
  \`position\`. A command with a code is never mixed with another.`;

const COUNTERPARTS = `## What the bridges were tested against

"Tested" names the bridges whose [conformance test](plugin-guide/09-the-conformance-suite.md) has a device or part of
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

/** A list of capabilities, each with its values and, unless all are readings, its access. */
function listOf(capabilities: CanonicalCapabilities, areReadings = false): string {
  return Object.entries(capabilities)
    .map(([name, canonical]) => {
      const { access, isRequired, meaning } = canonical;
      const facts = [
        valuesOf(canonical),
        ...(areReadings ? [] : [access]),
        ...(isRequired ? ["always"] : []),
      ];
      return `- \`${name}\` (${[...new Set(facts)].join("; ")}): ${meaning}`;
    })
    .join("\n");
}

/** The tests of a kind as a list; names that were tested alike on the same bridges share a line. */
function testsOf(kind: DeviceKind): string {
  const names = [...Object.keys(KINDS[kind].capabilities), ...Object.keys(READINGS)];
  const byTests = new Map<string, string[]>();
  for (const name of new Set(names)) {
    const tests = testedOn(kind, name);
    if (tests !== "") byTests.set(tests, [...(byTests.get(tests) ?? []), `\`${name}\``]);
  }
  if (byTests.size === 0) return "";
  const lines = [...byTests].map(([tests, alike]) => `- ${alike.join(", ")}: ${tests}`);
  return `\n\nTested:\n\n${lines.join("\n")}`;
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
    .map(([tested, found]) => `${tested} on ${found.map(([, bridge]) => bridge).join(", ")}`)
    .join("; ");
}

/** The type of a capability, with its range and unit; of a choice, its values. */
function valuesOf(canonical: Canonical): string {
  const { hasOwnValues, max, min, types, unit = "", values = [] } = canonical;
  const type = types.join(" or ");
  const more = hasOwnValues ? ["its own"] : [];
  const choices = [...values.map((value) => `\`${value}\``), ...more].join(", ");
  if (choices !== "") return type === "choice" ? choices : `${type}: ${choices}`;
  const from = min === undefined ? "" : `from ${min}`;
  const range = max === undefined ? from : `${min}–${max}`;
  const measured = `${range} ${unit}`.trim();
  if (measured === "") return type;
  return type === "number" ? measured : `${type} ${measured}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await writeFile(PAGE, `${devicesPage()}\n`);
  const oxfmt = join(ROOT, "node_modules/.bin/oxfmt");
  await promisify(execFile)(oxfmt, ["-c", join(ROOT, ".ci/oxfmt.json"), PAGE]);
}
