import type { Device } from "@mantel/plugin-sdk/widget";

/** A part of the home's power, in W. Positive values flow to the house, negative ones away from it. */
export interface Part {
  readonly name: "solar" | "grid" | "battery" | "house";
  /** `undefined` while it is unknown. */
  readonly watts: number | undefined;
  readonly device: Device | undefined;
}

/** The sensors of a home's power. The meter is that of the house; an absent one is worked out from the others. */
export interface Sensors {
  readonly meter: Device | undefined;
  readonly solar: Device | undefined;
  readonly grid: Device | undefined;
  readonly battery: Device | undefined;
  /** True if the battery's power is positive while it charges. */
  readonly isChargingPositive: boolean;
}

/** Below this power nothing flows; meters show a few watts of noise. */
const LEAST_W = 10;

/** The parts that have a sensor, and the house. */
export function partsOf(sensors: Sensors): readonly Part[] {
  const { meter, solar, grid, battery, isChargingPositive } = sensors;
  const stored = wattsOf(battery);
  const sources = [
    { name: "solar", device: solar, watts: wattsOf(solar) },
    { name: "grid", device: grid, watts: wattsOf(grid) },
    {
      name: "battery",
      device: battery,
      watts: stored !== undefined && isChargingPositive ? -stored : stored,
    },
  ] as const;
  const known = sources.filter(({ device }) => device !== undefined);
  const sum = known.reduce<number | undefined>(
    (all, { watts }) => (all === undefined || watts === undefined ? undefined : all + watts),
    0,
  );
  const watts = meter ? wattsOf(meter) : sum === undefined ? undefined : Math.max(0, sum);
  return [...known, { name: "house", device: meter, watts }];
}

/** The direction of a part's power, seen from the house. */
export function directionOf({ watts = 0 }: Part): "in" | "out" | "none" {
  if (Math.abs(watts) < LEAST_W) return "none";
  return watts > 0 ? "in" : "out";
}

/** The power of a device; `undefined` while it is not available. */
function wattsOf(device: Device | undefined): number | undefined {
  const power = device?.available === true ? device.state.power : undefined;
  return typeof power === "number" ? power : undefined;
}
