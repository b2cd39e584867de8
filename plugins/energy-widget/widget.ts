import { meteredField } from "@mantel/plugin-sdk/ui/energy";
import { figureCard } from "@mantel/plugin-sdk/ui/figure-card";
import { hourOf, hoursOfToday, sumOf, type HourlyUse } from "@mantel/plugin-sdk/ui/hourly-use";
import { shownReading } from "@mantel/plugin-sdk/ui/reading";
import { followReadings } from "@mantel/plugin-sdk/ui/readings";
import { type Device, defineWidget, s, type WidgetContext } from "@mantel/plugin-sdk/widget";
import { signal } from "@preact/signals-core";
import { html, nothing, render, type TemplateResult } from "lit";
import styles from "./widget.css";
import cardStyles from "@mantel/plugin-sdk/ui/card.css";

const settings = { meter: s.device({ kind: "sensor", title: "Meter" }) };
type Context = WidgetContext<typeof settings, unknown>;

/** Minimum height for readable bars, in CSS pixels. */
const BARS_PX = 110;

export default defineWidget({
  name: "Energy",
  icon: "mdi:lightning-bolt",
  size: { default: [2, 4], min: [2, 4], max: [8, 12] },
  texts: {
    de: {
      Energy: "Energie",
      "{amount} today": "{amount} heute",
      "No answer": "Keine Antwort",
      "No meter yet": "Noch kein Zähler",
      "A sensor that measures power or energy appears here automatically.":
        "Ein Sensor, der Leistung oder Energie misst, erscheint hier automatisch.",
    },
  },
  settings,
  styles: cardStyles + styles,
  mount(root, ctx) {
    const sensors = ctx.devices({ kind: "sensor" });
    const now = signal(ctx.now());
    ctx.every(60_000, () => (now.value = ctx.now()));
    const meter = (): Meter | undefined => {
      const chosen = ctx.settings.value.meter;
      const device = chosen === "" ? sensors.value.find(meteredField) : ctx.device(chosen).value;
      const field = device && meteredField(device);
      return device && field ? { device, field } : undefined;
    };
    const readings = followReadings(ctx, () => {
      const known = meter();
      return known ? [{ deviceId: known.device.id, field: known.field }] : [];
    });

    ctx.effect(() => {
      const known = meter();
      if (!known) return void render(noMeter(ctx), root);
      const [day] = readings.value;
      const timeZone = ctx.timeZone.value;
      const counts = known.field === "energy";
      const hours = hoursOfToday(day?.values ?? [], { counts, now: now.value, timeZone });
      const current = hourOf(now.value, { timeZone });
      render(card(ctx, known.device, { hours, current }), root);
    });
  },
});

interface Meter {
  readonly device: Device;
  readonly field: "energy" | "power";
}

interface Today {
  readonly hours: readonly HourlyUse[];
  /** The current hour. */
  readonly current: number;
}

function card(ctx: Context, device: Device, { hours, current }: Today): TemplateResult {
  const { t, fmt, online, size } = ctx;
  const now = powerOf(device);
  const total = sumOf(hours);
  const amount = total === undefined ? undefined : fmt.unit(total, "energy");
  const today = amount === undefined ? undefined : t("{amount} today", { amount });
  return figureCard({
    title: t("Energy"),
    hue: "energy",
    device: device.id,
    stale: !online.value,
    word: device.available ? undefined : t("No answer"),
    ...(now ? shownReading(now.watts, now, ctx) : { value: amount }),
    note: ageOf(ctx, device) ?? (now ? today : undefined),
    chart: size.value.height < BARS_PX ? nothing : bars(hours, current),
  });
}

function powerOf({
  state: { power },
  capabilities,
}: Device): { watts: number; unit?: string; step?: number } | undefined {
  const capability = capabilities.power;
  if (typeof power !== "number" || capability?.type !== "number") return undefined;
  return { watts: power, ...capability };
}

function ageOf({ online, fmt }: Context, { lastSeenAt }: Device): string | undefined {
  return online.value || lastSeenAt === null ? undefined : fmt.relative(Date.parse(lastSeenAt));
}

function bars(hours: readonly HourlyUse[], current: number): TemplateResult {
  const most = Math.max(...hours.map((use) => use ?? 0), 0.001);
  return html`<div class="bars" aria-hidden="true">
    ${hours.map((use, hour) => {
      const ahead = hour > current || use === undefined;
      const height = ahead ? 0 : Math.max(4, (use / most) * 100);
      return html`<i class=${ahead ? "ahead" : ""} .style=${`height: ${height}%`}></i>`;
    })}
  </div>`;
}

function noMeter({ t }: Context): TemplateResult {
  return html`<section class="card" aria-label=${t("Energy")}>
    <div class="empty">
      <strong>${t("No meter yet")}</strong>
      ${t("A sensor that measures power or energy appears here automatically.")}
    </div>
  </section>`;
}
