import { computed, signal } from "@preact/signals-core";
import type { Signal, WidgetContext } from "../widget.ts";
import type { Reading } from "./reading.ts";

/** A number that a device measures. */
export interface Measured {
  readonly deviceId: string;
  readonly field: string;
}

/** The last day of something measured, oldest first. What was read before a failure stays. */
export interface Readings {
  readonly state: "loading" | "known" | "failed";
  readonly values: readonly Reading[];
}

type Context = Pick<
  WidgetContext<Record<string, never>, unknown>,
  "read" | "effect" | "every" | "online" | "signal"
>;

const NONE: Readings = { state: "loading", values: [] };
/** The host keeps one reading in five minutes. */
const REFRESH_MS = 5 * 60_000;

/**
 * Follows the readings of what `wanted` gives, one signal value for each in its order. Read again every
 * five minutes, when `wanted` gives others, and when the host is back. `wanted` may read signals.
 */
export function followReadings(
  ctx: Context,
  wanted: () => readonly Measured[],
): Signal<readonly Readings[]> {
  const shown = signal<readonly Readings[]>([]);
  // What is wanted follows from devices, whose every change would otherwise have all read again.
  const key = computed(() => JSON.stringify(wanted()));
  let read = "";
  const load = async (): Promise<void> => {
    const asked = key.peek();
    const measured = JSON.parse(asked) as readonly Measured[];
    if (asked !== read) shown.value = measured.map(() => NONE);
    read = asked;
    const before = shown.peek();
    const values = await Promise.all(
      measured.map((each, index) => readDay(ctx, each, before[index] ?? NONE)),
    );
    if (read === asked && !ctx.signal.aborted) shown.value = values;
  };
  ctx.effect(() => {
    if (key.value !== read || ctx.online.value) void load();
  });
  ctx.every(REFRESH_MS, () => void load());
  return shown;
}

async function readDay(
  { read }: Context,
  { deviceId, field }: Measured,
  before: Readings,
): Promise<Readings> {
  const query = new URLSearchParams({ field });
  try {
    const answer = await read(
      `/smart-home/devices/${encodeURIComponent(deviceId)}/history?${query}`,
    );
    const { readings } = (await answer.json()) as { readings: { at: string; value: number }[] };
    return {
      state: "known",
      values: readings.map(({ at, value }) => ({ at: Date.parse(at), value })),
    };
  } catch {
    return { ...before, state: "failed" }; // the widget says so; the next round tries again
  }
}
