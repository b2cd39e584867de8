import { costText } from "@mantel/plugin-sdk/ui/energy";
import { figureCard } from "@mantel/plugin-sdk/ui/figure-card";
import { hoursOfToday, sumOf } from "@mantel/plugin-sdk/ui/hourly-use";
import { shownReading } from "@mantel/plugin-sdk/ui/reading";
import { followReadings } from "@mantel/plugin-sdk/ui/readings";
import { type Device, defineWidget, s, type WidgetContext } from "@mantel/plugin-sdk/widget";
import { signal } from "@preact/signals-core";
import { html, nothing, render, type TemplateResult } from "lit";
import { flowText, flowView } from "./widget/flow-view.ts";
import { type Part, partsOf } from "./widget/flow.ts";
import styles from "./widget.css";
import cardStyles from "@mantel/plugin-sdk/ui/card.css";

const settings = {
  meter: s.device({ kind: "sensor", title: "Meter of the house" }),
  solar: s.device({ kind: "sensor", title: "Solar power" }),
  grid: s.device({ kind: "sensor", title: "Grid connection" }),
  battery: s.device({ kind: "sensor", title: "House battery" }),
  chargingIsPositive: s.bool({ title: "The battery's power is positive while it charges" }),
  price: s.number({ title: "Price per kWh", min: 0, max: 100 }),
  currency: s.text({ title: "Currency", default: "EUR" }),
};
type Context = WidgetContext<typeof settings, unknown>;

/** Minimum size for the picture of the flow, in CSS pixels. */
const PICTURE = { width: 280, height: 230 };

export default defineWidget({
  name: "Energy flow",
  icon: "mdi:home-lightning-bolt-outline",
  size: { default: [4, 10], min: [2, 4] },
  texts: {
    de: {
      "Energy flow": "Energiefluss",
      "Meter of the house": "Zähler des Hauses",
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
      "No sensors yet": "Noch keine Sensoren",
      "Choose those of the sun, the grid or the battery in the settings of this tile.":
        "Wähle die von Sonne, Netz oder Speicher in den Einstellungen dieser Kachel.",
    },
  },
  settings,
  styles: cardStyles + styles,
  mount(root, ctx) {
    const now = signal(ctx.now());
    ctx.every(60_000, () => (now.value = ctx.now()));
    const readings = followReadings(ctx, () => {
      const counter = counterOf(ctx);
      return counter ? [{ deviceId: counter.device.id, field: counter.field }] : [];
    });

    ctx.effect(() => {
      const parts = flowOf(ctx);
      if (parts.length === 0) return void render(noSensors(ctx), root);
      const hours = hoursOfToday(readings.value[0]?.values ?? [], {
        counts: counterOf(ctx)?.field === "energy",
        now: now.value,
        timeZone: ctx.timeZone.value,
      });
      const flows = root.host.hasAttribute("flow");
      render(card(ctx, { parts, used: sumOf(hours), flows }), root);
    });
  },
});

/** A sensor of the settings; `undefined` without one, and while the home does not know it. */
function chosen(ctx: Context, name: "meter" | "solar" | "grid" | "battery"): Device | undefined {
  const id = ctx.settings.value[name];
  return id === "" ? undefined : ctx.device(id).value;
}

/** The flow of power; empty if the settings name no sensor of it. */
function flowOf(ctx: Context): readonly Part[] {
  const sensors = {
    meter: chosen(ctx, "meter"),
    solar: chosen(ctx, "solar"),
    grid: chosen(ctx, "grid"),
    battery: chosen(ctx, "battery"),
    isChargingPositive: ctx.settings.value.chargingIsPositive,
  };
  return (sensors.solar ?? sensors.grid ?? sensors.battery) ? partsOf(sensors) : [];
}

interface Counter {
  readonly device: Device;
  readonly field: "energy" | "power";
}

/** The sensor that counts the energy of today: the meter of the house, else the grid. */
function counterOf(ctx: Context): Counter | undefined {
  const device = chosen(ctx, "meter") ?? chosen(ctx, "grid");
  const field = (["energy", "power"] as const).find(
    (each) => device?.capabilities[each]?.type === "number",
  );
  return device && field ? { device, field } : undefined;
}

interface Day {
  readonly parts: readonly Part[];
  /** The energy of today in kWh. */
  readonly used: number | undefined;
  /** True if the tile grows with its content. */
  readonly flows: boolean;
}

function card(ctx: Context, { parts, used, flows }: Day): TemplateResult {
  const { width, height } = ctx.size.value;
  const hasPicture = width >= PICTURE.width && (flows || height >= PICTURE.height);
  const house = parts.find(({ name }) => name === "house");
  const power = house?.watts;
  const notes = [
    hasPicture ? "" : flowText(parts, ctx),
    ...(used === undefined ? [] : today(ctx, used)),
  ];
  return figureCard({
    title: ctx.t("Energy flow"),
    hue: "energy",
    device: house?.device?.id,
    stale: !ctx.online.value,
    ...(power === undefined ? {} : shownReading(power, { unit: "W", step: 10 }, ctx)),
    note: notes.filter((note) => note !== "").join(" · "),
    chart: hasPicture ? flowView(parts, ctx) : nothing,
  });
}

/** The energy of today and its cost, if there is a price. */
function today({ t, fmt, settings: { value } }: Context, used: number): readonly string[] {
  const { price, currency } = value;
  const amount = t("{amount} today", { amount: fmt.unit(used, "energy") });
  if (price === 0) return [amount];
  return [amount, costText(used * price, currency, fmt)];
}

function noSensors({ t }: Context): TemplateResult {
  return html`<section class="card" aria-label=${t("Energy flow")}>
    <div class="empty">
      <strong>${t("No sensors yet")}</strong>
      ${t("Choose those of the sun, the grid or the battery in the settings of this tile.")}
    </div>
  </section>`;
}
