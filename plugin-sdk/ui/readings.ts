import { computed, signal } from "@preact/signals-core";
import type { Signal, WidgetContext } from "../widget.ts";
import type { Reading } from "./reading.ts";

/** A numeric field of a device. */
export interface Measured {
  readonly deviceId: string;
  readonly field: string;
}

/** The readings of the last day, oldest first. After a failure the previous readings stay. */
export interface Readings {
  readonly state: "loading" | "known" | "failed";
  readonly values: readonly Reading[];
}

type Context = Pick<
  WidgetContext<Record<string, never>, unknown>,
  "read" | "effect" | "every" | "online" | "signal"
>;

const NONE: Readings = { state: "loading", values: [] };
/** The host stores one reading per five minutes. */
const REFRESH_MS = 5 * 60_000;

/**
 * Loads the readings of the fields that `wanted` returns, in the same order. Loads them again every five minutes,
 * when `wanted` returns other fields, and after a reconnect. `wanted` may read signals.
 */
export function followReadings(
  ctx: Context,
  wanted: () => readonly Measured[],
): Signal<readonly Readings[]> {
  const shown = signal<readonly Readings[]>([]);
  // A key, because `wanted` depends on devices, and each change of a device would load everything again.
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
    const isOnline = ctx.online.value; // read in each run, so that a reconnect runs this again
    if (key.value !== read || isOnline) void load();
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
    return { ...before, state: "failed" }; // the widget shows it; the next interval tries again
  }
}
