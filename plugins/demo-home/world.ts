import { type DeviceState, type StateValue, Type } from "@mantel/plugin-sdk";
import { HOUSE } from "./house.ts";

const Value = Type.Union([
  Type.Boolean(),
  Type.Number(),
  Type.String(),
  Type.Object({ hue: Type.Number(), saturation: Type.Number() }),
  Type.Null(),
]);

/** All there is to know of the house at one moment, as plain data. Measured values are not rounded. */
export const World = Type.Object({
  version: Type.Literal(1),
  /** State of the random numbers: the same world and the same commands give the same future. */
  random: Type.Integer(),
  devices: Type.Record(Type.String(), Type.Record(Type.String(), Value)),
  /** The position that the blinds move to. */
  blindsAim: Type.Number(),
});
export interface World {
  readonly version: 1;
  readonly random: number;
  readonly devices: Readonly<Record<string, DeviceState>>;
  readonly blindsAim: number;
}

/** The house when it is first opened, or as it was left; devices that it did not have then are new. */
export function openWorld(seed: number, left?: World): World {
  const devices = Object.fromEntries(
    HOUSE.map(({ nativeId, state }) => [nativeId, { ...state, ...left?.devices[nativeId] }]),
  );
  const blindsAim = Number(devices["blinds"]?.["position"]);
  return { version: 1, random: seed, blindsAim, ...left, devices };
}

/** What the devices show: measured values in the steps of their capabilities. */
export function shownStates({ devices }: World): Map<string, DeviceState> {
  return new Map(
    HOUSE.map(({ nativeId, capabilities }) => {
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
