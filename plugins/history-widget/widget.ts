import { readingText } from "@mantel/plugin-sdk/ui/reading";
import { followReadings, type Readings } from "@mantel/plugin-sdk/ui/readings";
import { type Device, defineWidget, s, type WidgetContext } from "@mantel/plugin-sdk/widget";
import { signal } from "@preact/signals-core";
import { html, nothing, render, type TemplateResult } from "lit";
import { Chart, type Line } from "./widget/chart.ts";
import { linesOf, momentsOf } from "./widget/lines.ts";
import styles from "./widget.css";
import cardStyles from "@mantel/plugin-sdk/ui/card.css";
import chartStyles from "uplot/dist/uPlot.min.css";

const settings = {
  field: s.named("field", { title: "Measured value", default: "temperature" }),
  devices: s.list(s.device({ title: "Device" }), { max: 6 }),
  title: s.text({ title: "Title" }),
  hours: s.number({ title: "Hours", min: 1, max: 24, step: 1, default: 24 }),
};
type Context = WidgetContext<typeof settings, unknown>;

const MOST_LINES = 6;

export default defineWidget({
  name: "History",
  icon: "mdi:chart-line",
  size: { default: [6, 8], min: [3, 5] },
  texts: {
    de: {
      History: "Verlauf",
      "Measured value": "Messwert",
      Device: "Gerät",
      Title: "Titel",
      Hours: "Stunden",
      Temperature: "Temperatur",
      Humidity: "Luftfeuchte",
      Power: "Leistung",
      Pressure: "Luftdruck",
      Illuminance: "Helligkeit",
      Energy: "Energie",
      Battery: "Batterie",
      "Loading measurements …": "Messwerte werden geladen …",
      "Could not load the measurements.": "Die Messwerte konnten nicht geladen werden.",
      "No measurements yet.": "Noch keine Messwerte.",
      "No device measures {field}.": "Kein Gerät misst {field}.",
    },
  },
  settings,
  styles: cardStyles + chartStyles + styles,
  mount(root, ctx) {
    const all = ctx.devices();
    const at = signal<number | undefined>(undefined);
    const frame = document.createElement("div");
    frame.className = "plot";
    // Screen readers use the names and values above the chart.
    frame.setAttribute("aria-hidden", "true");
    const chart = new Chart(frame, { onCursor: (index) => (at.value = index) });
    ctx.onCleanup(() => chart.close());
    const devices = (): readonly Device[] => chosen(ctx, all.value);
    const readings = followReadings(ctx, () =>
      devices().map(({ id }) => ({ deviceId: id, field: ctx.settings.value.field })),
    );

    ctx.effect(() => {
      const { field, hours } = ctx.settings.value;
      const shown = devices();
      const window = momentsOf(ctx.now(), hours);
      const lines = linesOf(shown, readings.value, { field, window });
      const state = stateOf(ctx, shown, readings.value);
      frame.hidden = state !== undefined;
      render(card(ctx, { lines, state, at: at.value, frame }), root);
      const { width, height } = ctx.size.value;
      const theme = ctx.theme.value;
      if (state === undefined) {
        chart.show({ moments: window.moments, lines, theme, size: `${width}x${height}`, ctx });
      }
    });
  },
});

/** The devices in the settings; by default the first ones that measure the field. */
function chosen(ctx: Context, all: readonly Device[]): readonly Device[] {
  const { devices, field } = ctx.settings.value;
  const measures = ({ capabilities }: Device): boolean => {
    const capability = capabilities[field];
    return capability?.type === "number" && capability.readOnly === true;
  };
  const shownDevices = devices.flatMap((id) => ctx.device(id).value ?? []);
  if (devices.length > 0) return shownDevices.filter(measures);
  // Sensors come first, then devices that also measure, such as a radiator with its own
  // temperature.
  const found = all.filter(measures);
  const sensors = found.filter(({ kind }) => kind === "sensor");
  return (sensors.length > 0 ? sensors : found).slice(0, MOST_LINES);
}

/** The message in place of the chart. */
function stateOf(
  { t, settings: { value } }: Context,
  devices: readonly Device[],
  readings: readonly Readings[],
): string | undefined {
  if (devices.length === 0) return t("No device measures {field}.", { field: value.field });
  if (readings.some(({ values }) => values.length > 1)) return undefined;
  if (readings.some(({ state }) => state === "failed"))
    return t("Could not load the measurements.");
  const loading = readings.length === 0 || readings.some(({ state }) => state === "loading");
  return loading ? t("Loading measurements …") : t("No measurements yet.");
}

interface Shown {
  readonly lines: readonly Line[];
  readonly state: string | undefined;
  /** The index of the moment under the finger or the mouse. */
  readonly at: number | undefined;
  readonly frame: HTMLElement;
}

function card(ctx: Context, { lines, state, at, frame }: Shown): TemplateResult {
  const { title, field } = ctx.settings.value;
  const heading = title || ctx.t(field.charAt(0).toUpperCase() + field.slice(1));
  return html`<section
    class="card ${ctx.online.value ? "" : "stale"}"
    aria-label=${heading}
    aria-busy=${state !== undefined && lines.length > 0}
  >
    <div class="head">
      <span class="title">${heading}</span>
      ${state === undefined ? legend(ctx, lines, at) : nothing}
    </div>
    ${frame}
    ${state === undefined ? nothing : html`<div class="empty" role="status">${state}</div>`}
  </section>`;
}

/**
 * The lines by name, each with its value at the finger, or its last value. This is the text
 * alternative of the chart.
 */
function legend(ctx: Context, lines: readonly Line[], at: number | undefined): TemplateResult {
  return html`<ul>
    ${lines.map(({ device, name, hue, values, capability }) => {
      const value = at === undefined ? values.findLast((each) => each !== null) : values[at];
      const valueText = typeof value === "number" ? readingText(value, capability, ctx) : "–";
      return html`<li data-details=${device} .style=${`--hue: var(--mantel-hue-${hue})`}>
        <i></i><button data-opens>${name}</button> <b>${valueText}</b>
      </li>`;
    })}
  </ul>`;
}
