import type { CommandBeyond, DeviceCommand, StateValue } from "@mantel/plugin-sdk";
import { noStates, requestedValue, setFields, type States } from "./device-state.ts";
import type { Thing } from "./discovery.ts";
import { type Feature, valueAt } from "./feature.ts";

/** A value that was set, and the way its device reports it. */
export interface Expected {
  readonly feature: Feature;
  readonly value: Exclude<StateValue, null>;
  readonly written: unknown;
}

/** Levels that are not sent with a switch-off, because they would switch on again. */
const LEVELS = new Set(["brightness", "speed"]);

/** The values to set, and the way they are reported. */
export function expectedOf(
  { features }: Thing,
  command: DeviceCommand,
  beyond: CommandBeyond = { parts: {}, extra: {} },
): Expected[] {
  const expected = features.flatMap((feature): Expected[] => {
    const value = requestedValue(feature, command, beyond);
    if (value === undefined || !feature.write) return [];
    return [{ feature, value, written: feature.write(value) }];
  });
  const off = expected.filter(({ feature, value }) => feature.name === "on" && value === false);
  return expected.filter(
    ({ feature }) => !LEVELS.has(feature.name) || !off.some((each) => isSamePlace(each, feature)),
  );
}

function isSamePlace({ feature }: Expected, { part, group }: Feature): boolean {
  return feature.part === part && feature.group === group;
}

/** What commands without confirmation leave behind. */
export function leftBy(expected: readonly Expected[]): States {
  const left = noStates();
  for (const { feature, value } of expected) {
    if (feature.leaves) setFields(left, feature, feature.leaves(value));
  }
  return left;
}

/** Returns a function that gets each payload of a device, and returns true when all values have been reported. */
export function confirmsAll(expected: readonly Expected[]): (payload: unknown) => boolean {
  let open = expected;
  return (payload) => {
    open = open.filter((each) => !isConfirmed(each, payload));
    return open.length === 0;
  };
}

function isConfirmed({ feature, written }: Expected, payload: unknown): boolean {
  if (feature.isConfirmedByAny) return true;
  const raw = valueAt(payload, feature.path);
  if (raw === undefined || raw === null) return false;
  return feature.confirms?.(raw, written) ?? raw === written;
}
