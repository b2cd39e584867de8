import { figureCard } from "@mantel/plugin-sdk/ui/figure-card";
import { shownReading } from "@mantel/plugin-sdk/ui/reading";
import { followReadings } from "@mantel/plugin-sdk/ui/readings";
import { type Device, defineWidget, s, type WidgetContext } from "@mantel/plugin-sdk/widget";
import { signal } from "@preact/signals-core";
import { html, nothing, render, type TemplateResult } from "lit";
import { flowText, flowView } from "./widget/flow-view.ts";
import { type Part, partsOf } from "./widget/flow.ts";
import { hourOf, hoursOfToday, sumOf, type HourlyUse } from "./widget/hours.ts";
import styles from "./widget.css";
import flowStyles from "./widget/flow.css";
import cardStyles from "@mantel/plugin-sdk/ui/card.css";

const settings = {
  meter: s.device({ kind: "sensor", title: "Meter" }),
  solar: s.device({ kind: "sensor", title: "Solar power" }),
  grid: s.device({ kind: "sensor", title: "Grid connection" }),
  battery: s.device({ kind: "sensor", title: "House battery" }),
  chargingIsPositive: s.bool({ title: "The battery's power is positive while it charges" }),
  price: s.number({ title: "Price per kWh", min: 0, max: 100 }),
  currency: s.text({ title: "Currency", default: "EUR" }),
};
type Context = WidgetContext<typeof settings, unknown>;

/** Minimum height for readable bars, in CSS pixels. */
const BARS_PX = 110;
/** Minimum size for the picture of the flow, in CSS pixels. */
const FLOW = { width: 280, height: 230 };
/** Height of the bars below the picture. */
const BELOW_PX = 330;
/** Below this width the figure and its note need two lines, and the bars are lower. */
const NARROW_PX = 220;

export default defineWidget({
  name: "Energy",
  icon: "mdi:lightning-bolt",
  size: { default: [2, 4], min: [2, 4], max: [8, 12] },
  texts: {
    de: {
      Energy: "Energie",
      Meter: "Zähler",
      "Solar power": "Solarstrom",
      "Grid connection": "Netzanschluss",
      "House battery": "Hausspeicher",
      "The battery's power is positive while it charges":
        "Die Leistung des Speichers ist positiv, während er lädt",
      "Price per kWh": "Preis je kWh",
      Currency: "Währung",
      Solar: "Solar",
      Grid: "Netz",
      Battery: "Speicher",
      House: "Haus",
      "from the grid": "aus dem Netz",
      "to the grid": "ins Netz",
      gives: "gibt ab",
      charges: "lädt",
      "{amount} today": "{amount} heute",
      "No answer": "Keine Antwort",
      "No meter yet": "Noch kein Zähler",
      "A sensor that measures power or energy appears here automatically.":
        "Ein Sensor, der Leistung oder Energie misst, erscheint hier automatisch.",
    },
  },
  settings,
  styles: cardStyles + styles + flowStyles,
  mount(root, ctx) {
    const sensors = ctx.devices({ kind: "sensor" });
    const now = signal(Date.now());
    ctx.every(60_000, () => (now.value = Date.now()));
    const meter = (): Meter | undefined => {
      const { meter: chosen, ...others } = ctx.settings.value;
      const taken = [others.solar, others.grid, others.battery];
      const free = () => sensors.value.find((each) => fieldOf(each) && !taken.includes(each.id));
      const device = chosen === "" ? free() : ctx.device(chosen).value;
      const field = device && fieldOf(device);
      return device && field ? { device, field } : undefined;
    };
    const readings = followReadings(ctx, () => {
      const known = meter();
      return known ? [{ deviceId: known.device.id, field: known.field }] : [];
    });

    ctx.effect(() => {
      const known = meter();
      const parts = flowOf(ctx);
      if (!known && parts.length === 0) return void render(noMeter(ctx), root);
      const [day] = readings.value;
      const timeZone = ctx.timeZone.value;
      const counts = known?.field === "energy";
      const hours = hoursOfToday(day?.values ?? [], { counts, now: now.value, timeZone });
      const current = hourOf(now.value, { timeZone });
      render(
        card(ctx, known?.device, { hours, current, parts, flows: root.host.hasAttribute("flow") }),
        root,
      );
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
  /** Empty without sensors of solar power, grid or battery. */
  readonly parts: readonly Part[];
  /** True if the tile grows with its content. */
  readonly flows: boolean;
}

/** The flow of power, if the settings name one of its sensors. */
function flowOf(ctx: Context): readonly Part[] {
  const { meter, solar, grid, battery, chargingIsPositive } = ctx.settings.value;
  if ([solar, grid, battery].every((id) => id === "")) return [];
  const of = (id: string) => (id === "" ? undefined : ctx.device(id).value);
  return partsOf({
    meter: of(meter),
    solar: of(solar),
    grid: of(grid),
    battery: of(battery),
    isChargingPositive: chargingIsPositive,
  });
}

function card(ctx: Context, device: Device | undefined, day: Today): TemplateResult {
  const { t, online } = ctx;
  const { hours, current, parts } = day;
  const now = device ? powerOf(device) : houseOf(parts);
  const total = sumOf(hours);
  const amount = total === undefined ? undefined : ctx.fmt.unit(total, "energy");
  const { hasPicture, hasBars } = roomFor(ctx, day);
  const isNarrow = ctx.size.value.width < NARROW_PX;
  return figureCard({
    title: t("Energy"),
    hue: "energy",
    device: device?.id,
    stale: !online.value,
    word: device?.available === false ? t("No answer") : undefined,
    ...(now ? shownReading(now.watts, now, ctx) : { value: amount }),
    note: (device && ageOf(ctx, device)) ?? noteOf(ctx, day, now ? amount : undefined),
    chart: html`${hasPicture ? flowView(parts, ctx) : nothing}${
      hasBars ? bars(hours, { current, isNarrow }) : nothing
    }`,
  });
}

function roomFor({ size }: Context, { hours, parts, flows }: Today) {
  const { width, height } = size.value;
  const hasPicture = parts.length > 0 && width >= FLOW.width && (flows || height >= FLOW.height);
  const hasRoom = flows || height >= (hasPicture ? BELOW_PX : BARS_PX);
  return { hasPicture, hasBars: hasRoom && !(hasPicture && sumOf(hours) === undefined) };
}

/** The flow in words if there is no room for its picture, the use of today and its cost. */
function noteOf(ctx: Context, day: Today, amount: string | undefined): string | undefined {
  const hasWords = day.parts.length > 0 && !roomFor(ctx, day).hasPicture;
  const flow = hasWords ? flowText(day.parts, ctx) : undefined;
  if (flow !== undefined && ctx.size.value.width < FLOW.width) return flow;
  const total = sumOf(day.hours);
  const today = amount === undefined ? undefined : ctx.t("{amount} today", { amount });
  const cost = total === undefined ? undefined : costOf(ctx, total);
  return [flow, today, cost].filter(Boolean).join(" · ") || undefined;
}

/** The power of the house without a meter of its own. */
function houseOf(parts: readonly Part[]): Power | undefined {
  const watts = parts.find(({ name }) => name === "house")?.watts;
  return watts === undefined ? undefined : { watts, unit: "W", step: 10 };
}

/** The cost of some kWh; `undefined` without a price. */
function costOf({ fmt, settings: { value } }: Context, amount: number): string | undefined {
  const { price, currency } = value;
  if (price === 0) return undefined;
  const cost = amount * price;
  return /^[A-Za-z]{3}$/.test(currency)
    ? fmt.number(cost, { style: "currency", currency })
    : `${fmt.number(cost, { minimumFractionDigits: 2, maximumFractionDigits: 2 })} ${currency}`;
}

interface Power {
  readonly watts: number;
  readonly unit?: string;
  readonly step?: number;
}

function powerOf({ state: { power }, capabilities }: Device): Power | undefined {
  const capability = capabilities.power;
  if (typeof power !== "number" || capability?.type !== "number") return undefined;
  return { watts: power, ...capability };
}

function ageOf({ online, fmt }: Context, { lastSeenAt }: Device): string | undefined {
  return online.value || lastSeenAt === null ? undefined : fmt.relative(Date.parse(lastSeenAt));
}

/** Prefers the energy counter over power, because it misses nothing between two readings. */
function fieldOf({ capabilities }: Device): "energy" | "power" | undefined {
  return (["energy", "power"] as const).find((field) => {
    const capability = capabilities[field];
    return capability?.type === "number" && capability.readOnly === true;
  });
}

function bars(
  hours: readonly HourlyUse[],
  { current, isNarrow }: { readonly current: number; readonly isNarrow: boolean },
): TemplateResult {
  const most = Math.max(...hours.map((use) => use ?? 0), 0.001);
  return html`<div class="bars ${isNarrow ? "narrow" : ""}" aria-hidden="true">
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
