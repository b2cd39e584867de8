import type { Device } from "@mantel/plugin-sdk/device";
import type { I18n } from "@mantel/plugin-sdk/i18n";
import { capabilityWord } from "@mantel/plugin-sdk/ui/control-words";
import { type Reading, readingText } from "@mantel/plugin-sdk/ui/reading";
import { type ReadonlySignal, signal } from "@preact/signals-core";
import { html, nothing, svg, type TemplateResult } from "lit";
import { words } from "./words.ts";

const DAY_MS = 24 * 3_600_000;
const TICK_MS = 4 * 3_600_000;
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

interface Loaded {
  readonly state: "loading" | "known" | "failed";
  readonly readings: readonly Reading[];
  readonly to: number;
}

type Read = (path: string, signal: AbortSignal) => Promise<Response>;

/** The last day of one field of a device, and the point under the finger. */
export class History {
  readonly #read: Read;
  readonly #closed: AbortSignal;
  readonly #deviceId: string;
  readonly field = signal<string | undefined>(undefined);
  readonly #loaded = signal<Loaded>({ state: "loading", readings: [], to: 0 });
  /** The share of the day at which a value is shown. */
  readonly at = signal<number | undefined>(undefined);

  constructor(deviceId: string, read: Read, closed: AbortSignal) {
    this.#deviceId = deviceId;
    this.#read = read;
    this.#closed = closed;
  }

  get loaded(): ReadonlySignal<Loaded> {
    return this.#loaded;
  }

  /** Shows another field. */
  async show(field: string): Promise<void> {
    this.field.value = field;
    this.at.value = undefined;
    this.#loaded.value = { state: "loading", readings: [], to: Date.now() };
    const query = new URLSearchParams({ field });
    const path = `/smart-home/devices/${encodeURIComponent(this.#deviceId)}/history?${query}`;
    const loaded = await this.#load(path);
    if (this.field.peek() === field) this.#loaded.value = loaded;
  }

  async #load(path: string): Promise<Loaded> {
    const to = Date.now();
    try {
      const answer = await this.#read(path, this.#closed);
      const { readings } = (await answer.json()) as { readings: { at: string; value: number }[] };
      const values = readings.map(({ at, value }) => ({ at: Date.parse(at), value }));
      return { state: "known", readings: values, to };
    } catch {
      return { state: "failed", readings: [], to };
    }
  }
}

/** The card with the chart of a device; nothing for a device that measures nothing. */
export function historyView(device: Device, history: History, speech: I18n): unknown {
  const fields = measuredFields(device);
  const field = fields.find(({ key }) => key === history.field.value) ?? fields[0];
  if (!field) return nothing;
  const { state, readings, to } = history.loaded.value;
  const texts = words.value;
  return html`<section class="box history" aria-label=${texts.last24h}>
    <div class="head">
      <h3>${texts.last24h}</h3>
      <span>${state === "known" ? spanText(readings, field, speech) : nothing}</span>
    </div>
    ${
      fields.length < 2
        ? nothing
        : html`<div class="choices fields" role="group" aria-label=${texts.last24h}>
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
          : chart({ readings, to, field, speech, history })
    }
  </section>`;
}

function spanText(readings: readonly Reading[], field: Field, speech: I18n): string {
  if (readings.length === 0) return "";
  const values = readings.map(({ value }) => value);
  const text = (value: number): string => readingText(value, plain(field), speech);
  return words.value.range(text(Math.min(...values)), text(Math.max(...values)));
}

/** A capability for `readingText`, which accepts no undefined fields. */
function plain({ unit, step }: Field): { unit?: string; step?: number } {
  return { ...(unit !== undefined && { unit }), ...(step !== undefined && { step }) };
}

interface Chart {
  readonly readings: readonly Reading[];
  readonly to: number;
  readonly field: Field;
  readonly speech: I18n;
  readonly history: History;
}

function chart({ readings, to, field, speech, history }: Chart): TemplateResult {
  const from = to - DAY_MS;
  const { line, area, yOf } = pathsOf(readings, from, SPANS[field.unit ?? ""] ?? 1);
  const share = history.at.value;
  const shown = share === undefined ? undefined : readingAt(readings, from + share * DAY_MS);
  const text = shown && readingText(shown.value, plain(field), speech);
  const time = share === undefined ? "" : speech.fmt.time(from + share * DAY_MS);
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
      ${svg`<path class="area" d=${area}></path><path class="line" d=${line}></path>`}
    </svg>
    ${
      shown === undefined || share === undefined
        ? nothing
        : html`<i class="rule" .style=${`left: ${share * 100}%`}></i>
            <i class="point" .style=${`left: ${share * 100}%; top: ${yOf(shown.value)}%`}></i>
            <span class="said" .style=${`--at: ${share * 100}%`}>${time} <b>${text}</b></span>`
    }
    <div class="ticks" aria-hidden="true">${ticksOf(from, to, speech)}</div>
  </div>`;
}

/** The paths of the chart in a square of 100, and the height of a value in it. */
export function pathsOf(
  readings: readonly Reading[],
  from: number,
  span: number,
): { line: string; area: string; yOf: (value: number) => number } {
  const values = readings.map(({ value }) => value);
  const middle = values.length === 0 ? 0 : (Math.min(...values) + Math.max(...values)) / 2;
  const half = Math.max(span / 2, ...values.map((value) => Math.abs(value - middle)));
  const yOf = (value: number): number =>
    round(BOTTOM - ((value - middle + half) / (2 * half)) * (BOTTOM - TOP));
  const xOf = (at: number): number => round(Math.max(0, ((at - from) / DAY_MS) * 100));
  const [first] = readings;
  if (!first) return { line: "", area: "", yOf };
  const points = readings.map(({ at, value }) => `${xOf(at)} ${yOf(value)}`);
  const line = `M${points.join("L")}H100`;
  return { line, area: `${line}V100H${xOf(first.at)}Z`, yOf };
}

/** The reading that holds at an instant; the first one before it. */
export function readingAt(readings: readonly Reading[], at: number): Reading | undefined {
  return readings.findLast((reading) => reading.at <= at) ?? readings[0];
}

function ticksOf(from: number, to: number, { fmt }: I18n): TemplateResult[] {
  const first = Math.ceil(from / TICK_MS) * TICK_MS;
  const count = Math.max(0, Math.floor((to - first) / TICK_MS) + 1);
  return Array.from({ length: count }, (_, index) => first + index * TICK_MS)
    .filter((at) => at - from > TICK_MS / 8 && to - at > TICK_MS / 4)
    .map(
      (at) => html`<span .style=${`left: ${((at - from) / DAY_MS) * 100}%`}>${fmt.time(at)}</span>`,
    );
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
