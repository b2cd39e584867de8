import type { Device } from "@mantel/plugin-sdk/device";
import type { I18n } from "@mantel/plugin-sdk/i18n";
import { capabilityWord } from "@mantel/plugin-sdk/ui/control-words";
import { type Reading, readingText } from "@mantel/plugin-sdk/ui/reading";
import { type ReadonlySignal, signal } from "@preact/signals-core";
import { html, nothing, svg, type TemplateResult } from "lit";
import { currentLocale } from "../i18n/language.ts";
import { words } from "./words.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** More than a chart has pixels to tell apart. */
const MOST_POINTS = 600;

/** The times that a chart can show, and the steps of its axis. */
const SPANS_OF_TIME = {
  day: { ms: DAY_MS, tickMs: 4 * HOUR_MS, button: "hours24", title: "last24h" },
  week: { ms: 7 * DAY_MS, tickMs: DAY_MS, button: "days7", title: "last7d" },
  month: { ms: 30 * DAY_MS, tickMs: 5 * DAY_MS, button: "days30", title: "last30d" },
} as const;
export type SpanName = keyof typeof SPANS_OF_TIME;
const SPAN_NAMES = Object.keys(SPANS_OF_TIME) as readonly SpanName[];

/** Minimum value range of the chart, by unit, so that small changes look small. */
const SPANS: Readonly<Record<string, number>> = { "°C": 2, "%": 10, hPa: 5, W: 20, lx: 50 };
const TOP = 6;
const BOTTOM = 94;

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

/** A reading, or the mean of several with their limits. `NaN` while the value was unknown. */
export interface HistoryPoint extends Reading {
  readonly min?: number;
  readonly max?: number;
}

interface Loaded {
  readonly state: "loading" | "known" | "failed";
  readonly readings: readonly HistoryPoint[];
  readonly to: number;
}

type Read = (path: string, signal: AbortSignal) => Promise<Response>;

/** One field of a device over a day, a week or a month, and the point under the finger. */
export class History {
  readonly #read: Read;
  readonly #closed: AbortSignal;
  readonly #deviceId: string;
  readonly field = signal<string | undefined>(undefined);
  readonly span = signal<SpanName>("day");
  readonly #loaded = signal<Loaded>({ state: "loading", readings: [], to: 0 });
  /** The share of the time at which a value is shown. */
  readonly at = signal<number | undefined>(undefined);

  constructor(deviceId: string, read: Read, closed: AbortSignal) {
    this.#deviceId = deviceId;
    this.#read = read;
    this.#closed = closed;
  }

  get loaded(): ReadonlySignal<Loaded> {
    return this.#loaded;
  }

  /** Shows another field, or another time. */
  async show(field: string, span: SpanName = this.span.peek()): Promise<void> {
    this.field.value = field;
    this.span.value = span;
    this.at.value = undefined;
    this.#loaded.value = { state: "loading", readings: [], to: Date.now() };
    const loaded = await this.#load(field, span);
    if (this.field.peek() === field && this.span.peek() === span) this.#loaded.value = loaded;
  }

  async #load(field: string, span: SpanName): Promise<Loaded> {
    const to = Date.now();
    try {
      const answer = await this.#read(this.#pathOf(field, span, to), this.#closed);
      const body: unknown = await answer.json();
      return { state: "known", readings: pointsIn(body), to };
    } catch {
      return { state: "failed", readings: [], to };
    }
  }

  /** The last day comes from the host itself, more from the plugin that records. */
  #pathOf(field: string, span: SpanName, to: number): string {
    if (span === "day") {
      const query = new URLSearchParams({ field });
      return `/smart-home/devices/${encodeURIComponent(this.#deviceId)}/history?${query}`;
    }
    const query = new URLSearchParams({
      device: this.#deviceId,
      field,
      from: new Date(to - SPANS_OF_TIME[span].ms).toISOString(),
      to: new Date(to).toISOString(),
      points: String(MOST_POINTS),
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

/** The card with the chart of a device; nothing for a device that measures nothing. */
export function historyView(
  device: Device,
  history: History,
  speech: I18n,
  hasLonger = false,
): unknown {
  const fields = measuredFields(device);
  const field = fields.find(({ key }) => key === history.field.value) ?? fields[0];
  if (!field) return nothing;
  const { state, readings, to } = history.loaded.value;
  const texts = words.value;
  const span = history.span.value;
  const title = texts[SPANS_OF_TIME[span].title];
  return html`<section class="box history" aria-label=${title}>
    <div class="head">
      <h3>${title}</h3>
      <span>${state === "known" ? spanText(readings, field, speech) : nothing}</span>
    </div>
    ${hasLonger ? spansView(history, field, span) : nothing}
    ${
      fields.length < 2
        ? nothing
        : html`<div class="choices fields" role="group" aria-label=${title}>
            ${fields.map(
              ({ key, name }) =>
                html`<button
                  aria-pressed=${key === field.key}
                  @click=${() => void history.show(key)}
                >
                  ${speech.t(capabilityWord(name))}
                </button>`,
            )}
          </div>`
    }
    ${
      state === "failed"
        ? html`<p class="quiet">${texts.historyFailed}</p>`
        : state === "known" && readings.length === 0
          ? html`<p class="quiet">${texts.noHistory}</p>`
          : chart({ readings, to, span, field, speech, history })
    }
  </section>`;
}

function spansView(history: History, field: Field, shown: SpanName): TemplateResult {
  const texts = words.value;
  return html`<div class="choices spans" role="group" aria-label=${texts.span}>
    ${SPAN_NAMES.map(
      (span) =>
        html`<button
          aria-pressed=${span === shown}
          @click=${() => void history.show(field.key, span)}
        >
          ${texts[SPANS_OF_TIME[span].button]}
        </button>`,
    )}
  </div>`;
}

function spanText(readings: readonly HistoryPoint[], field: Field, speech: I18n): string {
  const known = readings.filter(({ value }) => !Number.isNaN(value));
  if (known.length === 0) return "";
  const text = (value: number): string => readingText(value, plain(field), speech);
  const lowest = Math.min(...known.map(({ value, min = value }) => min));
  const highest = Math.max(...known.map(({ value, max = value }) => max));
  return words.value.range(text(lowest), text(highest));
}

/** A capability for `readingText`, which accepts no undefined fields. */
function plain({ unit, step }: Field): { unit?: string; step?: number } {
  return { ...(unit !== undefined && { unit }), ...(step !== undefined && { step }) };
}

interface Chart {
  readonly readings: readonly HistoryPoint[];
  readonly to: number;
  readonly span: SpanName;
  readonly field: Field;
  readonly speech: I18n;
  readonly history: History;
}

function chart({ readings, to, span, field, speech, history }: Chart): TemplateResult {
  const { ms } = SPANS_OF_TIME[span];
  const from = to - ms;
  const { line, area, band, yOf } = pathsOf(readings, { from, ms }, SPANS[field.unit ?? ""] ?? 1);
  const share = history.at.value;
  const found = share === undefined ? undefined : readingAt(readings, from + share * ms);
  const shown = found && !Number.isNaN(found.value) ? found : undefined;
  const text = shown && readingText(shown.value, plain(field), speech);
  const time = share === undefined ? "" : timeText(from + share * ms, span, speech);
  return html`<div
    class="plot"
    role="slider"
    tabindex="0"
    aria-label=${speech.t(capabilityWord(field.name))}
    aria-valuemin="0"
    aria-valuemax="100"
    aria-valuenow=${Math.round((share ?? 1) * 100)}
    aria-valuetext=${text === undefined ? spanText(readings, field, speech) : words.value.valueAt(text, time)}
    @pointerdown=${(event: PointerEvent) => follow(event, history)}
    @pointermove=${(event: PointerEvent) => follow(event, history)}
    @pointerleave=${() => (history.at.value = undefined)}
    @keydown=${(event: KeyboardEvent) => stepByKey(event, history)}
    @blur=${() => (history.at.value = undefined)}
  >
    <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
      ${svg`<path class="area" d=${area}></path><path class="band" d=${band}></path><path class="line" d=${line}></path>`}
    </svg>
    ${
      shown === undefined || share === undefined
        ? nothing
        : html`<i class="rule" .style=${`left: ${share * 100}%`}></i>
            <i class="point" .style=${`left: ${share * 100}%; top: ${yOf(shown.value)}%`}></i>
            <span class="said" .style=${`--at: ${share * 100}%`}>${time} <b>${text}</b></span>`
    }
    <div class="ticks" aria-hidden="true">${ticksOf(from, to, span, speech)}</div>
  </div>`;
}

/** The time under the finger; with the day if more than one is shown. */
function timeText(at: number, span: SpanName, { fmt }: I18n): string {
  return span === "day" ? fmt.time(at) : `${fmt.date(at, "short")} ${fmt.time(at)}`;
}

/** The time that a chart shows. */
interface TimeRange {
  readonly from: number;
  readonly ms: number;
}

/**
 * The paths of the chart in a square of 100, with gaps where the value was unknown, and the height of a value in it.
 * `band` lies between the limits of points that have some.
 */
export function pathsOf(
  readings: readonly HistoryPoint[],
  { from, ms }: TimeRange,
  span: number,
): { line: string; area: string; band: string; yOf: (value: number) => number } {
  const known = readings.filter(({ value }) => !Number.isNaN(value));
  const values = known.flatMap(({ value, min = value, max = value }) => [min, max]);
  const middle = values.length === 0 ? 0 : (Math.min(...values) + Math.max(...values)) / 2;
  const half = Math.max(span / 2, ...values.map((value) => Math.abs(value - middle)));
  const yOf = (value: number): number =>
    round(BOTTOM - ((value - middle + half) / (2 * half)) * (BOTTOM - TOP));
  const xOf = (at: number): number => round(Math.max(0, ((at - from) / ms) * 100));
  const paths = segmentsOf(readings).map(({ points, until }) => {
    const [first] = points;
    const end = until === undefined ? 100 : xOf(until);
    const line = `M${points.map(({ at, value }) => `${xOf(at)} ${yOf(value)}`).join("L")}H${end}`;
    return { line, area: `${line}V100H${xOf(first?.at ?? from)}Z`, band: bandOf(points, xOf, yOf) };
  });
  const joined = (key: "line" | "area" | "band"): string => paths.map((path) => path[key]).join("");
  return { line: joined("line"), area: joined("area"), band: joined("band"), yOf };
}

type Scale = (value: number) => number;

function bandOf(points: readonly HistoryPoint[], xOf: Scale, yOf: Scale): string {
  if (points.every(({ min }) => min === undefined)) return "";
  const upper = points.map(({ at, value, max = value }) => `${xOf(at)} ${yOf(max)}`);
  const lower = points.map(({ at, value, min = value }) => `${xOf(at)} ${yOf(min)}`);
  return `M${[...upper, ...lower.toReversed()].join("L")}Z`;
}

/** The stretches with known values, each with the instant at which the value became unknown. */
function segmentsOf(
  readings: readonly HistoryPoint[],
): readonly { readonly points: readonly HistoryPoint[]; readonly until: number | undefined }[] {
  const segments: { points: HistoryPoint[]; until: number | undefined }[] = [];
  let isOpen = false;
  for (const reading of readings) {
    const last = segments.at(-1);
    if (Number.isNaN(reading.value)) {
      if (last && isOpen) last.until = reading.at;
      isOpen = false;
    } else if (last && isOpen) last.points.push(reading);
    else {
      segments.push({ points: [reading], until: undefined });
      isOpen = true;
    }
  }
  return segments;
}

/** The reading that holds at an instant; the first one before it. */
export function readingAt(readings: readonly HistoryPoint[], at: number): HistoryPoint | undefined {
  return readings.findLast((reading) => reading.at <= at) ?? readings[0];
}

function ticksOf(from: number, to: number, span: SpanName, { fmt }: I18n): TemplateResult[] {
  const { ms, tickMs } = SPANS_OF_TIME[span];
  const first = span === "day" ? Math.ceil(from / tickMs) * tickMs : nextMidnight(from);
  const count = Math.max(0, Math.floor((to - first) / tickMs) + 1);
  const weekday = new Intl.DateTimeFormat(currentLocale.value, { weekday: "short" });
  const texts: Readonly<Record<SpanName, (at: number) => string>> = {
    day: (at) => fmt.time(at),
    week: (at) => weekday.format(at),
    month: (at) => fmt.date(at, "short"),
  };
  return Array.from({ length: count }, (_, index) => first + index * tickMs)
    .filter((at) => at - from > tickMs / 8 && to - at > tickMs / 4)
    .map(
      (at) => html`<span .style=${`left: ${((at - from) / ms) * 100}%`}>${texts[span](at)}</span>`,
    );
}

/** The next midnight of this screen. */
function nextMidnight(at: number): number {
  return new Date(at).setHours(24, 0, 0, 0);
}

function follow({ currentTarget, clientX }: PointerEvent, history: History): void {
  if (!(currentTarget instanceof Element)) return;
  const { left, width } = currentTarget.getBoundingClientRect();
  history.at.value = Math.max(0, Math.min(1, (clientX - left) / width));
}

function stepByKey(event: KeyboardEvent, history: History): void {
  const by = { ArrowLeft: -1, ArrowRight: 1, PageDown: -6, PageUp: 6 }[event.key];
  if (by === undefined) return;
  event.preventDefault();
  history.at.value = Math.max(0, Math.min(1, (history.at.peek() ?? 1) + by / 96));
}

const round = (value: number): number => Math.round(value * 100) / 100;
