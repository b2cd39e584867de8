import assert from "node:assert/strict";
import { test } from "node:test";
import type { Manifest } from "@mantel/plugin-sdk/manifest";
import {
  type ConfinementFacts,
  confinementOf,
} from "../../../host/modules/process/sandbox/confinement.ts";

const SERVER: Manifest = { id: "lamp", kinds: ["service"], server: "index.ts" };
const WIDGET: Manifest = { id: "lamp", kinds: ["widget"], widget: "widget.ts" };
const CONFINED: ConfinementFacts = { kernelReason: null, isDebugged: false, network: "proxied" };
const NO_KERNEL = { kernelReason: "bwrap is not installed" };

const CASES: readonly (readonly [
  what: string,
  manifest: Manifest,
  facts: Partial<ConfinementFacts>,
  confinement: readonly [level: string, network: string, reason: string | null],
])[] = [
  ["a server on a machine that confines", SERVER, {}, ["kernel", "proxied", null]],
  ["a server without a network", SERVER, { network: "none" }, ["kernel", "none", null]],
  [
    "a server with the machine's network",
    SERVER,
    { network: "open" },
    ["kernel", "open", "its manifest asks for the machine's own network"],
  ],
  [
    "a server on a machine that confines nothing",
    SERVER,
    NO_KERNEL,
    ["permission-model", "open", "bwrap is not installed"],
  ],
  [
    "a server with a debugger",
    SERVER,
    { isDebugged: true },
    ["kernel", "open", "a debugger may attach to it"],
  ],
  [
    "a server with a debugger on a machine that confines nothing",
    SERVER,
    { isDebugged: true, ...NO_KERNEL },
    ["none", "open", "a debugger may attach to it; bwrap is not installed"],
  ],
  [
    "a widget",
    WIDGET,
    { isDebugged: true, ...NO_KERNEL },
    ["none", "none", "it has no process: its widget runs in the browser"],
  ],
];

for (const [what, manifest, facts, [level, network, reason]] of CASES) {
  test(`${what} is confined by ${level} with ${network} network`, () => {
    const confinement = confinementOf(manifest, { ...CONFINED, ...facts });

    assert.deepEqual(confinement, { level, network, reason });
  });
}
