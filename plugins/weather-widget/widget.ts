import { defineWidget, type ModuleStatus, s, type WidgetContext } from "@mantel/plugin-sdk/widget";
import { signal } from "@preact/signals-core";
import { html, nothing, render, type TemplateResult } from "lit";
import type { Forecast, WeatherChannels } from "./widget/forecast.ts";
import { icon } from "./widget/icons.ts";
import { previewForecast } from "./widget/preview.ts";
import { dayName, NAMES, outlook, fromCurrentHour, TEXTS_DE } from "./widget/words.ts";
import styles from "./widget.css";
import cardStyles from "@mantel/plugin-sdk/ui/card.css";

const settings = {
  hours: s.number({ title: "Hours shown", min: 0, max: 12, step: 1, default: 6 }),
  days: s.number({ title: "Days shown if they fit", min: 0, max: 7, step: 1, default: 5 }),
};
type Context = WidgetContext<typeof settings, unknown>;

/** Minimum heights for the hours, and for the days below them, in CSS pixels. */
const HOURS_PX = 150;
const DAYS_PX = 280;
const HOUR_PX = 56;
/** Used in locales with a 12-hour clock. */
const LONG_HOUR_PX = 84;
const DAY_PX = 40;
/** An older forecast shows its age. */
const OLD_MS = 3 * 3_600_000;
const WHOLE = {
  minimumFractionDigits: 0,
  maximumFractionDigits: 0,
  signDisplay: "negative",
} as const;

export default defineWidget({
  name: "Weather",
  icon: "mdi:weather-partly-cloudy",
  size: { default: [4, 6], min: [2, 2] },
  texts: { de: TEXTS_DE },
  settings,
  preview: () => ({ "weather/forecast": previewForecast() }),
  styles: cardStyles + styles,
  mount(root, ctx) {
    const forecast = ctx.channel<WeatherChannels>("weather/forecast");
    const modules = ctx.channel("modules");
    const now = signal(ctx.now());
    ctx.every(60_000, () => (now.value = ctx.now()));

    ctx.effect(() => {
      const known = forecast.value;
      const hours = known && fromCurrentHour(known.hours, now.value);
      if (known && hours && hours.length > 0) {
        render(weather(ctx, { ...known, hours }, now.value), root);
      } else
        render(
          missing(
            ctx,
            modules.value?.find(({ id }) => id === "weather"),
          ),
          root,
        );
    });
  },
});

function degrees({ fmt }: Context, celsius: number): string {
  return fmt.unit(celsius, "temperature", WHOLE);
}

function weather(ctx: Context, forecast: Forecast, now: number): TemplateResult {
  const { t, size, online } = ctx;
  const { place, source } = forecast;
  const isOld = now - Date.parse(forecast.fetchedAt) > OLD_MS;
  const { height } = size.value;
  const by = t("Forecast by {source}", { source });
  return html`<section
    class=${online.value && !isOld ? "" : "stale"}
    aria-label=${place === null ? t("Weather") : t("Weather in {place}", { place })}
    title=${by}
  >
    ${presentSky(ctx, forecast, isOld)}
    ${height >= HOURS_PX || isFlowing(size.value) ? hourList(ctx, forecast) : nothing}
    ${
      height >= DAYS_PX
        ? html`${dayList(ctx, forecast, height - HOURS_PX)}
            <footer>${by}</footer>`
        : nothing
    }
  </section>`;
}

function presentSky(ctx: Context, { hours, fetchedAt }: Forecast, isOld: boolean): unknown {
  const { t, fmt } = ctx;
  const [first] = hours;
  if (!first) return nothing;
  const summary = isOld
    ? fmt.relative(Date.parse(fetchedAt))
    : outlook(hours, { t, fmt, degrees: (celsius) => degrees(ctx, celsius) });
  return html`<div class="now">
    ${icon(first)}
    <b>${degrees(ctx, first.temperatureC)}</b>
    <p><strong>${t(NAMES[first.condition])}</strong><span>${summary}</span></p>
  </div>`;
}

/**
 * A tile that follows its content is never tall enough by itself; a wide one has room for the
 * hours.
 */
function isFlowing({ width, rows }: { width: number; rows: number }): boolean {
  return width >= 300 && rows === 1;
}

function hourList(ctx: Context, { hours }: Forecast): unknown {
  const { size, settings: own, fmt } = ctx;
  const room = fmt.time(0).length > "00:00".length ? LONG_HOUR_PX : HOUR_PX;
  const fits = Math.max(3, Math.floor(size.value.width / room));
  const shown = hours.slice(1, 1 + Math.min(own.value.hours, fits));
  if (shown.length === 0) return nothing;
  return html`<ol class="hours" aria-label=${ctx.t("Hourly")}>
    ${shown.map(
      (hour) =>
        html`<li>
          <time>${fmt.time(Date.parse(hour.at))}</time>
          ${icon(hour)}<span class="unseen">${ctx.t(NAMES[hour.condition])}</span>
          <b>${degrees(ctx, hour.temperatureC)}</b>
        </li>`,
    )}
  </ol>`;
}

function dayList(ctx: Context, { days }: Forecast, room: number): unknown {
  const shown = days.slice(1, 1 + Math.min(ctx.settings.value.days, Math.floor(room / DAY_PX)));
  if (shown.length === 0) return nothing;
  return html`<ol class="days" aria-label=${ctx.t("Daily")}>
    ${shown.map(
      ({ date, condition, lowC, highC, rainMm }) =>
        html`<li>
          <span class="day">${dayName(date, ctx.locale.value)}</span>
          ${icon({ condition, day: true })}<span class="unseen">${ctx.t(NAMES[condition])}</span>
          <span class="rain">${rainMm >= 0.5 ? ctx.fmt.unit(rainMm, "rain") : nothing}</span>
          <span class="low">${degrees(ctx, lowC)}</span>
          <b>${degrees(ctx, highC)}</b>
        </li>`,
    )}
  </ol>`;
}

/** Explains a missing forecast, and the next step. */
function missing({ t }: Context, module: ModuleStatus | undefined): TemplateResult {
  const fault = module?.error?.message ?? "";
  switch (module?.state) {
    case "unconfigured":
      if (!/^(not configured|$)/.test(fault)) return message(t("No forecast available"), fault);
      return html`<mantel-setup kind="place">
        ${message(t("The weather is not set up yet"), t("Add your town in the settings."))}
      </mantel-setup>`;
    case "active":
    case "loading":
    case "reloading":
      return message(t("Loading the forecast …"));
    default:
      return message(t("No forecast available"), fault);
  }
}

function message(title: string, ...lines: readonly string[]): TemplateResult {
  return html`<div class="empty" role="status">
    <strong>${title}</strong>${lines.map((line) => html`<span>${line}</span>`)}
  </div>`;
}
