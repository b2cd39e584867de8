import type { Capability, DeviceDescription, StateValue } from "../device.ts";
import {
  canonicalCapability,
  faultsOfVocabulary,
  isCanonicalName,
  KINDS,
  missingCapabilities,
} from "../vocabulary/index.ts";
import { type DeviceFunction, type DeviceSession, functionsOf } from "./device-session.ts";

/** Checks that all capabilities fit the vocabulary, and all values their capabilities. */
export function checkDescription(session: DeviceSession): void {
  const { device } = session;
  const functions = functionsOf(device);
  for (const each of functions) {
    if (each.path === "extra/") checkExtras(session, each);
    else checkNames(session, each);
    checkState(session, each);
  }
  checkRequired(session, device, functions);
}

function checkNames(session: DeviceSession, { path, kind, capabilities }: DeviceFunction): void {
  for (const { pointer, detail } of faultsOfVocabulary(kind, capabilities)) {
    const name = pointer.slice(1);
    session.fault(`${path}${name}`, detail, JSON.stringify(capabilities[name]));
  }
  for (const name of Object.keys(capabilities)) {
    if (isCanonicalName(name)) continue;
    const expected = `a name of the vocabulary for a ${kind}, or a place under "extra"`;
    session.fault(`${path}${name}`, expected, "the vocabulary does not have it");
  }
}

function checkExtras(session: DeviceSession, { kind, capabilities }: DeviceFunction): void {
  for (const [name, { ...capability }] of Object.entries(capabilities)) {
    if ("group" in capability) delete capability.group;
    const isCanonical = canonicalCapability(kind, name) !== undefined;
    if (!isCanonical || faultsOfVocabulary(kind, { [name]: capability }).length > 0) continue;
    const actual = `it is in the vocabulary for a ${kind}`;
    session.fault(`extra/${name}`, "a place beside the other capabilities", actual);
  }
}

function checkRequired(
  session: DeviceSession,
  { parts = [] }: DeviceDescription,
  functions: readonly DeviceFunction[],
): void {
  for (const { path, kind, capabilities } of functions) {
    if (path === "extra/" || (path === "" && parts.length > 0)) continue;
    for (const name of missingCapabilities(kind, capabilities)) {
      const meaning = KINDS[kind].capabilities[name]?.meaning ?? "";
      session.fault(`${path}${name}`, `that every ${kind} has it: ${meaning}`, "it is missing");
    }
  }
}

function checkState(session: DeviceSession, of: DeviceFunction): void {
  const { path, kind, capabilities, state } = of;
  for (const [name, value] of Object.entries(state)) {
    const capability = Object.hasOwn(capabilities, name) ? capabilities[name] : undefined;
    const expected = !capability
      ? "no value, because there is no such capability"
      : canonicalCapability(kind, name)?.access === "command"
        ? "no value, because it is a command"
        : demandOf(capability, value);
    if (expected !== undefined) session.fault(`${path}${name}`, expected, JSON.stringify(value));
  }
}

/** The form that a value must have; `undefined` if it has it. `null` is an unknown value. */
function demandOf(capability: Capability, value: StateValue): string | undefined {
  if (value === null) return undefined;
  switch (capability.type) {
    case "boolean":
      return typeof value === "boolean" ? undefined : "true or false";
    case "text":
      return typeof value === "string" ? undefined : "a text";
    case "color":
      return typeof value === "object" ? undefined : "a colour";
    case "command":
      return "no value, because it is a command";
    case "choice": {
      const isOne = typeof value === "string" && capability.values.includes(value);
      return isOne ? undefined : `one of ${capability.values.join(", ")}`;
    }
    case "number": {
      const { min = -Infinity, max = Infinity } = capability;
      const isWithin = typeof value === "number" && value >= min && value <= max;
      return isWithin ? undefined : `a number from ${min} to ${max}`;
    }
  }
}
