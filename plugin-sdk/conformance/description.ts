import type { DeviceDescription } from "../device.ts";
import {
  canonicalCapability,
  faultsOfVocabulary,
  isCanonicalName,
  KINDS,
  missingCapabilities,
} from "../vocabulary/index.ts";
import { type DeviceFunction, functionsOf } from "./device-function.ts";
import type { DeviceSession } from "./device-session.ts";
import { wrongValues } from "./wrong-values.ts";

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
  for (const { name, expected, value } of wrongValues(of)) {
    session.fault(`${of.path}${name}`, expected, JSON.stringify(value));
  }
}
