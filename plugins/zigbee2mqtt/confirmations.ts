import { isDeepStrictEqual } from "node:util";
import type { CommandBeyond, DeviceCommand, StateValue } from "@mantel/plugin-sdk";
import { fieldsAt, noStates, requestedValue, setFields, type States } from "./device-state.ts";
import type { Thing } from "./discovery.ts";
import { type Feature, valueAt } from "./feature.ts";

/** A value that was set, and the way its device reports it. */
export interface Expected {
  readonly feature: Feature;
  readonly value: Exclude<StateValue, null>;
  /** The value when the command was sent. */
  readonly before: StateValue;
  readonly written: unknown;
}

/** Levels that are not sent with a switch-off, because they would switch on again. */
const LEVELS = new Set(["brightness", "speed"]);

/** The values to set, and the way they are reported. */
export function expectedOf(
  { features }: Thing,
  command: DeviceCommand,
  beyond: CommandBeyond = { parts: {}, extra: {} },
  states: States = noStates(),
): Expected[] {
  const expected = features.flatMap((feature): Expected[] => {
    const value = requestedValue(feature, command, beyond);
    if (value === undefined || !feature.write) return [];
    const before = fieldsAt(states, feature)[feature.name] ?? null;
    return [{ feature, value, before, written: feature.write(value) }];
  });
  const find = (isThat: (each: Expected) => boolean, place: Feature) =>
    expected.some((each) => isThat(each) && isSamePlace(each, place));
  return expected.filter(({ feature, value }) => {
    if (LEVELS.has(feature.name)) return !find(isOff, feature);
    return feature.name !== "on" || value === false || !find(isFanMode, feature);
  });
}

const isOff = ({ feature, value }: Expected): boolean => feature.name === "on" && value === false;

/** Of a fan's state and mode, which one converter sets, Zigbee2MQTT takes the first; a mode switches on. */
const isFanMode = ({ feature }: Expected): boolean => feature.path[0] === "fan_mode";

function isSamePlace({ feature }: Expected, { part, group }: Feature): boolean {
  return feature.part === part && feature.group === group;
}

/** The state after commands without confirmation. */
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

/** A value from before the command does not confirm it, however close it is to what was asked for. */
function isConfirmed({ feature, written, value, before }: Expected, payload: unknown): boolean {
  const raw = valueAt(payload, feature.path);
  if (raw === undefined || raw === null) return false;
  const isOld = isDeepStrictEqual(feature.read(raw), before) && !isDeepStrictEqual(value, before);
  if (isOld && !isDeepStrictEqual(feature.read(written), before)) return false;
  return feature.confirms?.(raw, written) ?? raw === written;
}
