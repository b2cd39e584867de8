import type { Actions } from "@mantel/plugin-sdk/ui/actions";
import { figureCard } from "@mantel/plugin-sdk/ui/figure-card";
import { type Reading, shownReading } from "@mantel/plugin-sdk/ui/reading";
import { atMoments, sparkline } from "@mantel/plugin-sdk/ui/sparkline";
import type { Device, WidgetContext } from "@mantel/plugin-sdk/widget";
import type { TemplateResult } from "lit";

/** Half an hour per step, over one day. */
const STEP_MS = 30 * 60_000;
const STEPS = 48;

const HUES: Readonly<Record<string, string>> = {
  temperature: "heat",
  humidity: "cool",
  illuminance: "light",
  power: "energy",
  energy: "energy",
};
/** Minimum value range of the chart, by unit, so that small changes look small. */
const SPANS: Readonly<Record<string, number>> = { "°C": 4, "%": 20, hPa: 10, W: 100, lx: 200 };

/** The field that a sensor's card shows. */
export interface Measurement {
  readonly field: string;
  readonly unit: string;
  readonly step: number;
}

/** The wanted field, or the first measured one; `undefined` for a sensor without numbers. */
export function measurementOf({ capabilities }: Device, wanted: string): Measurement | undefined {
  const measured = Object.entries(capabilities).flatMap(([field, capability]) =>
    capability.type === "number" && capability.readOnly === true
      ? [{ field, unit: capability.unit ?? "", step: capability.step ?? 1 }]
      : [],
  );
  return (
    measured.find(({ field }) => field === wanted) ??
    measured.find(({ field }) => field !== "battery") ??
    measured[0]
  );
}

interface SensorCard {
  readonly ctx: Pick<WidgetContext<Record<string, never>, unknown>, "fmt" | "now" | "online" | "t">;
  readonly actions: Actions;
  readonly device: Device;
  readonly sensor: Measurement;
  readonly readings: readonly Reading[];
}

/** The current value of a sensor and its course over the last day. */
export function sensorCard({ ctx, actions, device, sensor, readings }: SensorCard): TemplateResult {
  const { field, unit } = sensor;
  const value = device.state[field];
  const known = typeof value === "number";
  const to = ctx.now();
  const now = known && device.available ? [{ at: to, value }] : [];
  const values = atMoments([...readings, ...now], { to, stepMs: STEP_MS, count: STEPS });
  return figureCard({
    title: device.name,
    device: device.id,
    hue: HUES[field] ?? "info",
    stale: !ctx.online.value,
    word: actions.wordOf(device),
    note: actions.ageOf(device),
    ...(known ? shownReading(value, sensor, ctx) : {}),
    chart: sparkline(values, { span: SPANS[unit] ?? 1 }),
  });
}
