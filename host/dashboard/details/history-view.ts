import type { Device } from "@mantel/plugin-sdk/device";
import type { I18n } from "@mantel/plugin-sdk/i18n";
import { capabilityWord } from "@mantel/plugin-sdk/ui/control-words";
import { readingText } from "@mantel/plugin-sdk/ui/reading";
import { html, nothing, svg, type TemplateResult } from "lit";
import { type ChartGestures, PAN_STEP, ZOOM_STEP } from "./chart-gestures.ts";
import {
  heightsOf,
  type HistoryPoint,
  pathsOf,
  readingAt,
  readingsIn,
  type TimeRange,
} from "./chart-paths.ts";
import { ticksOf } from "./chart-ticks.ts";
import {
  type Field,
  type History,
  measuredFields,
  type SpanName,
  SPANS_OF_TIME,
} from "./history.ts";
import { words } from "./words.ts";

const DAY_MS = 24 * 3_600_000;
const SPAN_NAMES = Object.keys(SPANS_OF_TIME) as readonly SpanName[];

/** Minimum value range of the chart, by unit, so that small changes look small. */
const SPANS: Readonly<Record<string, number>> = { "°C": 2, "%": 10, hPa: 5, W: 20, lx: 50 };

/** The chart of a device's details and what it needs. */
export interface HistoryCard {
  readonly device: Device;
  readonly history: History;
  readonly gestures: ChartGestures;
  readonly speech: I18n;
  /** All devices, for a comparison. */
  readonly devices: readonly Device[];
}

/** The card with the chart of a device; nothing for a device that measures nothing. */
export function historyView(card: HistoryCard): unknown {
  const { device, history, speech } = card;
  const fields = measuredFields(device);
  const field = fields.find(({ key }) => key === history.field.value) ?? fields[0];
  if (!field) return nothing;
  const { state, readings } = history.loaded.value;
  const texts = words.value;
  const span = history.span.value;
  const range = history.range.value;
  const title = span ? texts[SPANS_OF_TIME[span].title] : rangeText(range, speech);
  const shown = readingsIn(readings, range);
  return html`<section class="box history" aria-label=${title}>
    <div class="head">
      <h3>${title}</h3>
      <span>${state === "known" ? spanText(shown, field, speech) : nothing}</span>
    </div>
    <div class="tools">
      ${history.hasLonger ? spansView(history, field, span) : nothing} ${zoomView(history)}
    </div>
    ${fields.length < 2 ? nothing : fieldsView(card, fields, { field, title })}
    ${
      state === "failed"
        ? html`<p class="quiet">${texts.historyFailed}</p>`
        : state === "known" && shown.length === 0
          ? html`<p class="quiet">${texts.noHistory}</p>`
          : chart(card, field, shown)
    }
    ${comparisonView(card, field)}
  </section>`;
}

function fieldsView(
  { history, speech }: HistoryCard,
  fields: readonly Field[],
  { field, title }: { readonly field: Field; readonly title: string },
): TemplateResult {
  return html`<div class="choices fields" role="group" aria-label=${title}>
    ${fields.map(
      ({ key, name }) =>
        html`<button aria-pressed=${key === field.key} @click=${() => void history.show(key)}>
          ${speech.t(capabilityWord(name))}
        </button>`,
    )}
  </div>`;
}

function spansView(history: History, field: Field, shown: SpanName | undefined): TemplateResult {
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

function zoomView(history: History): TemplateResult {
  const texts = words.value;
  const buttons = [
    { label: texts.earlier, icon: "mdi:chevron-left", act: () => history.pan(-PAN_STEP) },
    { label: texts.zoomOut, icon: "mdi:magnify-minus-outline", act: () => history.zoom(ZOOM_STEP) },
    {
      label: texts.zoomIn,
      icon: "mdi:magnify-plus-outline",
      act: () => history.zoom(1 / ZOOM_STEP),
    },
    { label: texts.later, icon: "mdi:chevron-right", act: () => history.pan(PAN_STEP) },
  ];
  return html`<div class="choices zoom" role="group" aria-label=${texts.zoom}>
    ${buttons.map(
      ({ label, icon, act }) =>
        html`<button aria-label=${label} @click=${act}>
          <mantel-icon name=${icon}></mantel-icon>
        </button>`,
    )}
  </div>`;
}

/** The choice of a second curve; nothing if there is none. */
function comparisonView({ device, devices, history }: HistoryCard, field: Field): unknown {
  const texts = words.value;
  const others = devices.filter(
    (each) =>
      each.id !== device.id &&
      measuredFields(each).some(({ key, unit }) => key === field.key && unit === field.unit),
  );
  if (others.length === 0 && !history.hasLonger) return nothing;
  const compared = history.compared.value;
  const days = { day: texts.dayEarlier, week: texts.weekEarlier };
  const choices: readonly (readonly [string, string])[] = [
    ["", texts.nothingElse],
    ...(history.hasLonger ? Object.entries(days) : []),
    ...others.map(({ id, name }) => [id, name] as const),
  ];
  return html`<label class="compare ${compared === "" ? "" : "chosen"}">
    <i aria-hidden="true"></i><span>${texts.compare}</span>
    <select
      @change=${({ currentTarget }: Event) =>
        void history.compare((currentTarget as HTMLSelectElement).value)}
    >
      ${choices.map(
        ([value, text]) =>
          html`<option value=${value} ?selected=${value === compared}>${text}</option>`,
      )}
    </select>
    ${
      compared !== "" && history.other.value.state === "failed"
        ? html`<span class="quiet" role="status">${texts.historyFailed}</span>`
        : nothing
    }
  </label>`;
}

function rangeText({ from, ms }: TimeRange, speech: I18n): string {
  return words.value.range(timeText(from, true, speech), timeText(from + ms, true, speech));
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

/** The curves, and the values at the point that is read. */
function chart(
  { history, gestures, speech }: HistoryCard,
  field: Field,
  readings: readonly HistoryPoint[],
): TemplateResult {
  const range = history.range.value;
  const others =
    history.compared.value === "" ? [] : readingsIn(history.other.value.readings, range);
  const yOf = heightsOf([...readings, ...others], SPANS[field.unit ?? ""] ?? 1);
  const { line, area, band } = pathsOf(readings, range, yOf);
  const other = pathsOf(others, range, yOf);
  const share = history.at.value;
  const at = range.from + (share ?? 1) * range.ms;
  const value = share === undefined ? undefined : knownAt(readings, at);
  const otherValue = share === undefined ? undefined : knownAt(others, at);
  const texts = [value, otherValue].flatMap((each) =>
    each === undefined ? [] : [readingText(each, plain(field), speech)],
  );
  const time = timeText(at, range.ms > DAY_MS || history.span.value === undefined, speech);
  return html`<div
    class="plot"
    role="slider"
    tabindex="0"
    aria-label=${speech.t(capabilityWord(field.name))}
    aria-valuemin="0"
    aria-valuemax="100"
    aria-valuenow=${Math.round((share ?? 1) * 100)}
    aria-valuetext=${texts.length === 0 ? spanText(readings, field, speech) : words.value.valueAt(texts.join(" · "), time)}
    @pointerdown=${gestures.down}
    @pointermove=${gestures.move}
    @pointerup=${gestures.up}
    @pointercancel=${gestures.leave}
    @pointerleave=${gestures.leave}
    @wheel=${gestures.wheel}
    @keydown=${gestures.key}
    @blur=${() => (history.at.value = undefined)}
  >
    <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
      ${svg`<path class="area" d=${area}></path><path class="band" d=${band}></path><path class="other" d=${other.line}></path><path class="line" d=${line}></path>`}
    </svg>
    ${
      value === undefined || share === undefined
        ? nothing
        : html`<i class="rule" .style=${`left: ${share * 100}%`}></i>
            <i class="point" .style=${`left: ${share * 100}%; top: ${yOf(value)}%`}></i>
            <span class="said" .style=${`--at: ${share * 100}%`}>
              ${time} ${texts.map((text, index) => html`${index > 0 ? " · " : ""}<b>${text}</b>`)}
            </span>`
    }
    <div class="ticks" aria-hidden="true">
      ${ticksOf(range, speech).map(
        ({ share: place, text }) => html`<span .style=${`left: ${place * 100}%`}>${text}</span>`,
      )}
    </div>
  </div>`;
}

/** The known value that holds at an instant. */
function knownAt(readings: readonly HistoryPoint[], at: number): number | undefined {
  const value = readingAt(readings, at)?.value;
  return value === undefined || Number.isNaN(value) ? undefined : value;
}

/** A time of the chart, with its day if the chart shows several. */
function timeText(at: number, hasDay: boolean, { fmt }: I18n): string {
  return hasDay ? `${fmt.date(at, "short")} ${fmt.time(at)}` : fmt.time(at);
}
