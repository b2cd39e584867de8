import { meteredField } from "@mantel/plugin-sdk/ui/energy";
import type { Device } from "@mantel/plugin-sdk/widget";

/** The lengths of bars with their number in the tile. */
export const COUNTS = { day: 14, week: 12, month: 12 } as const;
export type PeriodName = keyof typeof COUNTS;

/** The energy of one day, week or month. */
export interface Use {
  /** Epoch milliseconds. */
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** `undefined` if nothing was measured. */
  readonly kWh: number | undefined;
}

/** The path of the statistics of a meter; `undefined` if it measures neither energy nor power. */
export function pathOf(meter: Device, period: PeriodName, now: number): string | undefined {
  const field = meteredField(meter);
  if (field === undefined) return undefined;
  const from = new Date(now);
  const before = COUNTS[period] - 1;
  if (period === "month") from.setMonth(from.getMonth() - before, 1);
  else from.setDate(from.getDate() - before * (period === "week" ? 7 : 1));
  const query = new URLSearchParams({
    device: meter.id,
    field,
    period,
    from: from.toISOString(),
    to: new Date(now).toISOString(),
  });
  return `/history/statistics?${query}`;
}

interface Statistic {
  readonly from: string;
  readonly to: string;
  readonly mean: number | null;
  /** The increase of a counter; absent for power. */
  readonly sum?: number | null;
}

/** The energy of each period in an answer of the history, oldest first. */
export function usesIn(answer: unknown, period: PeriodName, now: number): readonly Use[] {
  const { statistics } = answer as { statistics: readonly Statistic[] };
  return statistics.slice(-COUNTS[period]).map(({ sum, mean, ...times }) => {
    const [from, to] = [Date.parse(times.from), Date.parse(times.to)];
    const hours = (Math.min(to, now) - from) / 3_600_000;
    const measured = mean === null ? null : (mean * hours) / 1_000;
    return { from, to, kWh: (sum === undefined ? measured : sum) ?? undefined };
  });
}

/** The sum of the known figures. */
export function totalOf(uses: readonly Use[]): number {
  return uses.reduce((sum, { kWh = 0 }) => sum + kWh, 0);
}
