import { isDeepStrictEqual } from "node:util";
import {
  type Capabilities,
  type DeviceDescription,
  type DeviceState,
  type DeviceUpdate,
  type StateValue,
  Type,
} from "@mantel/plugin-sdk";
import { DEVICES } from "./devices.ts";

const Value = Type.Union([
  Type.Boolean(),
  Type.Number(),
  Type.String(),
  Type.Object({ hue: Type.Number(), saturation: Type.Number() }),
  Type.Null(),
]);

/** The complete state of the demo home as plain data. Measured values are not rounded. */
export const World = Type.Object({
  version: Type.Literal(1),
  /** State of the random generator: the same world and commands give the same future. */
  random: Type.Integer(),
  /** The states by function: `<nativeId>`, `<nativeId>/<part>` or `<nativeId>/extra`. */
  devices: Type.Record(Type.String(), Type.Record(Type.String(), Value)),
  /** Target position of the blinds. */
  blindsAim: Type.Number(),
});
export interface World {
  readonly version: 1;
  readonly random: number;
  readonly devices: Readonly<Record<string, DeviceState>>;
  readonly blindsAim: number;
}

/** The states that devices show, by function. */
export type ShownStates = ReadonlyMap<string, DeviceState>;

interface DeviceFunction {
  readonly path: string;
  readonly capabilities: Capabilities;
  readonly state: DeviceState;
}

const FUNCTIONS: readonly DeviceFunction[] = DEVICES.flatMap(functionsOf);

function functionsOf({ nativeId, capabilities, state, parts = [], extra }: DeviceDescription) {
  return [
    { path: nativeId, capabilities, state },
    ...parts.map((part) => ({ ...part, path: `${nativeId}/${part.id}` })),
    ...(extra ? [{ ...extra, path: `${nativeId}/extra` }] : []),
  ];
}

/** The initial world, or the stored one with devices and values added since. Values that no device has are dropped. */
export function openWorld(seed: number, left?: World): World {
  const devices = Object.fromEntries(
    FUNCTIONS.map(({ path, state }) => {
      const stored = Object.entries(left?.devices[path] ?? {}).filter(([name]) => name in state);
      return [path, { ...state, ...Object.fromEntries(stored) }];
    }),
  );
  const blindsAim = Number(devices["blinds"]?.["position"]);
  return { version: 1, random: seed, blindsAim, ...left, devices };
}

/** The states that the devices show: measured values in the steps of their capabilities. */
export function shownStates({ devices }: World): ShownStates {
  return new Map(
    FUNCTIONS.map(({ path, capabilities }) => {
      const shown = Object.entries(devices[path] ?? {}).map(([field, value]) => {
        const capability = capabilities[field];
        const measured = capability?.type === "number" && capability.readOnly === true;
        return [field, measured ? rounded(value, capability.step) : value];
      });
      return [path, Object.fromEntries(shown)];
    }),
  );
}

function rounded(value: StateValue, step = 1): StateValue {
  return typeof value === "number" ? Number((Math.round(value / step) * step).toFixed(3)) : value;
}

/** The devices with the states that they show. */
export function describeDevices(shown: ShownStates): DeviceDescription[] {
  return DEVICES.map(({ parts, extra, ...device }) => {
    const { nativeId } = device;
    const stateAt = (path: string) => shown.get(path) ?? {};
    return {
      ...device,
      state: stateAt(nativeId),
      ...(parts && {
        parts: parts.map((part) => ({ ...part, state: stateAt(`${nativeId}/${part.id}`) })),
      }),
      ...(extra && { extra: { ...extra, state: stateAt(`${nativeId}/extra`) } }),
    };
  });
}

/** An update for each device of which a shown state has changed. */
export function changesBetween(before: ShownStates, after: ShownStates): DeviceUpdate[] {
  return DEVICES.flatMap(({ nativeId, parts = [] }) => {
    const changed = (path: string): DeviceState | undefined => {
      const state = after.get(path);
      return isDeepStrictEqual(state, before.get(path)) ? undefined : state;
    };
    const state = changed(nativeId);
    const extra = changed(`${nativeId}/extra`);
    const changedParts = parts.flatMap(({ id }) => {
      const ofPart = changed(`${nativeId}/${id}`);
      return ofPart ? [[id, ofPart] as const] : [];
    });
    if (!state && !extra && changedParts.length === 0) return [];
    return [
      {
        nativeId,
        ...(state && { state }),
        ...(changedParts.length > 0 && { parts: Object.fromEntries(changedParts) }),
        ...(extra && { extra }),
      },
    ];
  });
}
