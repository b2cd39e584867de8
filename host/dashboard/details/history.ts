import type { Device } from "@mantel/plugin-sdk/device";
import { type ReadonlySignal, signal } from "@preact/signals-core";
import { now } from "../home-time.ts";
import type { HistoryPoint, TimeRange } from "./chart-paths.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** More than a chart has pixels to tell apart. */
const MOST_POINTS = 600;
const SHORTEST_MS = 5 * MINUTE_MS;
const LONGEST_MS = 366 * DAY_MS;
/** The pause after which a chart that is moved or zoomed reads the points of its new time. */
const READ_AFTER_MS = 250;

/** The times that a chart can show at first. */
export const SPANS_OF_TIME = {
  day: { ms: DAY_MS, button: "hours24", title: "last24h" },
  week: { ms: 7 * DAY_MS, button: "days7", title: "last7d" },
  month: { ms: 30 * DAY_MS, button: "days30", title: "last30d" },
} as const;
export type SpanName = keyof typeof SPANS_OF_TIME;

/** Days by which a second curve of the same device is earlier. */
const DAYS_EARLIER: Readonly<Record<string, number>> = { day: 1, week: 7 };

/** A measured number of a device or of one of its parts. */
export interface Field {
  /** The name in requests, such as `power` or `light.power`. */
  readonly key: string;
  readonly name: string;
  readonly unit?: string | undefined;
  readonly step?: number | undefined;
}

/**
 * The measured numbers of a device and its parts. Figures about the device itself come last,
 * and none of them alone.
 */
export function measuredFields(device: Device): readonly Field[] {
  const { parts = [] } = device;
  const sections = [
    { prefix: "", capabilities: device.capabilities },
    ...parts.map(({ id, capabilities }) => ({ prefix: `${id}.`, capabilities })),
  ];
  const fields = sections.flatMap(({ prefix, capabilities }) =>
    Object.entries(capabilities).flatMap(([name, capability]) =>
      capability.type === "number" && capability.readOnly === true
        ? [{ key: prefix + name, name, unit: capability.unit, step: capability.step }]
        : [],
    ),
  );
  const isAside = ({ name }: Field): boolean => /^(battery|signal|accuracy)/.test(name);
  if (fields.every(isAside)) return [];
  return fields.toSorted((one, other) => Number(isAside(one)) - Number(isAside(other)));
}

interface Curve {
  readonly state: "loading" | "known" | "failed";
  readonly readings: readonly HistoryPoint[];
}

const LOADING: Curve = { state: "loading", readings: [] };

type Read = (path: string, signal: AbortSignal) => Promise<Response>;

interface Start {
  readonly deviceId: string;
  readonly read: Read;
  readonly closed: AbortSignal;
  /** True if the history reaches back further than a day. */
  readonly hasLonger: boolean;
}

/** One field of a device over a time that can be moved and zoomed, a second curve, and the point under the finger. */
export class History {
  readonly #start: Start;
  readonly hasLonger: boolean;
  readonly field = signal<string | undefined>(undefined);
  /** The span that is shown; `undefined` after it was moved or zoomed. */
  readonly span = signal<SpanName | undefined>("day");
  readonly range = signal<TimeRange>({ from: now() - DAY_MS, ms: DAY_MS });
  /** The second curve: `day` or `week` for the same device that much earlier, or the id of a device; empty for none. */
  readonly compared = signal("");
  /** The share of the time at which a value is shown. */
  readonly at = signal<number | undefined>(undefined);
  readonly #loaded = signal<Curve>(LOADING);
  readonly #other = signal<Curve>(LOADING);
  #reading: ReturnType<typeof setTimeout> | undefined;
  /** Counts reads, so that an answer for a time that was left is dropped. */
  #reads = 0;

  constructor(start: Start) {
    this.#start = start;
    this.hasLonger = start.hasLonger;
    start.closed.addEventListener("abort", () => clearTimeout(this.#reading));
  }

  get loaded(): ReadonlySignal<Curve> {
    return this.#loaded;
  }

  /** The second curve, in the time of the first. */
  get other(): ReadonlySignal<Curve> {
    return this.#other;
  }

  /** Shows another field or span, up to the present. */
  async show(field: string, span: SpanName = this.span.peek() ?? "day"): Promise<void> {
    const { ms } = SPANS_OF_TIME[span];
    this.field.value = field;
    this.span.value = span;
    this.range.value = { from: now() - ms, ms };
    this.at.value = undefined;
    this.#loaded.value = LOADING;
    this.#other.value = LOADING;
    await this.#load();
  }

  /** Shows a second curve. */
  async compare(compared: string): Promise<void> {
    this.compared.value = compared;
    this.#other.value = LOADING;
    await this.#load();
  }

  /** Shows so many times the time. The instant at a share of the chart stays there, as far as the limits permit. */
  zoom(factor: number, share = 0.5): void {
    const { from, ms } = this.range.peek();
    const length = Math.max(SHORTEST_MS, Math.min(this.#longestMs, ms * factor));
    this.move({ from: from + share * (ms - length), ms: length });
  }

  /** Shows a later or earlier time, by a share of the shown time. */
  pan(share: number): void {
    const { from, ms } = this.range.peek();
    this.move({ from: from + share * ms, ms });
  }

  /** Shows a time, moved to before the present and into what is recorded. Its points are read after a pause. */
  move({ from, ms }: TimeRange): void {
    const present = now();
    const length = Math.max(SHORTEST_MS, Math.min(this.#longestMs, ms));
    const oldest = present - this.#longestMs;
    const start = Math.max(this.hasLonger ? -Infinity : oldest, Math.min(from, present - length));
    this.range.value = { from: start, ms: length };
    this.span.value = undefined;
    if (!this.hasLonger) return; // all of the day is there
    clearTimeout(this.#reading);
    this.#reading = setTimeout(() => void this.#load(), READ_AFTER_MS);
  }

  get #longestMs(): number {
    return this.hasLonger ? LONGEST_MS : DAY_MS;
  }

  async #load(): Promise<void> {
    const turn = ++this.#reads;
    const [loaded, other] = await Promise.all([
      this.#readCurve(this.#start.deviceId, 0),
      this.#readCompared(),
    ]);
    if (turn !== this.#reads) return;
    this.#loaded.value = loaded;
    this.#other.value = other;
  }

  async #readCompared(): Promise<Curve> {
    const compared = this.compared.peek();
    if (compared === "") return LOADING;
    const days = DAYS_EARLIER[compared];
    if (days === undefined) return await this.#readCurve(compared, 0);
    const end = new Date(this.range.peek().from + this.range.peek().ms);
    const earlierMs = end.getTime() - new Date(end).setDate(end.getDate() - days);
    const { state, readings } = await this.#readCurve(this.#start.deviceId, earlierMs);
    return { state, readings: readings.map((point) => ({ ...point, at: point.at + earlierMs })) };
  }

  async #readCurve(device: string, earlierMs: number): Promise<Curve> {
    try {
      const answer = await this.#start.read(this.#pathOf(device, earlierMs), this.#start.closed);
      return { state: "known", readings: pointsIn(await answer.json()) };
    } catch {
      return { state: "failed", readings: [] };
    }
  }

  /**
   * The last day comes from the host itself, more from the plugin that records. A chart that was moved reads half of its
   * time before and after it too, so that the next move finds some points.
   */
  #pathOf(device: string, earlierMs: number): string {
    const field = this.field.peek() ?? "";
    const span = this.span.peek();
    const { from, ms } = this.range.peek();
    if (!this.hasLonger || (span === "day" && earlierMs === 0)) {
      const query = new URLSearchParams({ field });
      return `/smart-home/devices/${encodeURIComponent(device)}/history?${query}`;
    }
    const aroundMs = span === undefined ? ms / 2 : 0;
    const query = new URLSearchParams({
      device,
      field,
      from: new Date(from - aroundMs - earlierMs).toISOString(),
      to: new Date(Math.min(now(), from + ms + aroundMs - earlierMs)).toISOString(),
      points: String(span === undefined ? 2 * MOST_POINTS : MOST_POINTS),
    });
    return `/history/readings?${query}`;
  }
}

interface Point {
  readonly at: string;
  readonly value: number | null;
  readonly min?: number;
  readonly max?: number;
}

function pointsIn(body: unknown): HistoryPoint[] {
  const { readings, points } = body as { readings?: Point[]; points?: Point[] };
  return (points ?? readings ?? []).map(({ at, value, min, max }) => {
    const point = { at: Date.parse(at), value: value ?? NaN };
    return min === undefined || max === undefined ? point : { ...point, min, max };
  });
}
