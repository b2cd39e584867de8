import { type DeviceState, type StateValue, Type } from "@mantel/plugin-sdk";
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

/** The initial world, or the stored one with devices added since. */
export function openWorld(seed: number, left?: World): World {
  const devices = Object.fromEntries(
    DEVICES.map(({ nativeId, state }) => [nativeId, { ...state, ...left?.devices[nativeId] }]),
  );
  const blindsAim = Number(devices["blinds"]?.["position"]);
  return { version: 1, random: seed, blindsAim, ...left, devices };
}

/** The states that the devices show: measured values in the steps of their capabilities. */
export function shownStates({ devices }: World): Map<string, DeviceState> {
  return new Map(
    DEVICES.map(({ nativeId, capabilities }) => {
      const shown = Object.entries(devices[nativeId] ?? {}).map(([field, value]) => {
        const capability = capabilities[field];
        const measured = capability?.type === "number" && capability.readOnly === true;
        return [field, measured ? rounded(value, capability.step) : value];
      });
      return [nativeId, Object.fromEntries(shown)];
    }),
  );
}

function rounded(value: StateValue, step = 1): StateValue {
  return typeof value === "number" ? Number((Math.round(value / step) * step).toFixed(3)) : value;
}
