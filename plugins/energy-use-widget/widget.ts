import { costText, meteredField } from "@mantel/plugin-sdk/ui/energy";
import { figureCard } from "@mantel/plugin-sdk/ui/figure-card";
import { type Device, defineWidget, s, type WidgetContext } from "@mantel/plugin-sdk/widget";
import { signal } from "@preact/signals-core";
import { html, nothing, render, type TemplateResult } from "lit";
import { COUNTS, pathOf, type PeriodName, totalOf, type Use, usesIn } from "./widget/periods.ts";
import styles from "./widget.css";
import cardStyles from "@mantel/plugin-sdk/ui/card.css";

const settings = {
  meter: s.device({ title: "Meter" }),
  period: s.choice(["day", "week", "month"], { title: "Bars", default: "day" }),
  price: s.number({ title: "Price per kWh", min: 0, max: 100 }),
  currency: s.text({ title: "Currency", default: "EUR" }),
};
type Context = WidgetContext<typeof settings, PeriodName>;

/** Minimum heights for bars and for the choice above them, in CSS pixels. */
const BARS_PX = 130;
const CHOICE_PX = 190;
const REFRESH_MS = 5 * 60_000;

const TITLES = { day: "Days", week: "Weeks", month: "Months" } as const;
const CURRENT = { day: "today", week: "this week", month: "this month" } as const;

interface Loaded {
  readonly state: "loading" | "known" | "failed";
  readonly period: PeriodName;
  readonly uses: readonly Use[];
}

export default defineWidget<typeof settings, PeriodName>({
  name: "Energy use",
  icon: "mdi:chart-bar",
  size: { default: [4, 7], min: [2, 4], max: [12, 14] },
  settings,
  styles: cardStyles + styles,
  mount(root, ctx) {
    const devices = ctx.devices();
    const chosen = signal<PeriodName | undefined>(ctx.handedOver);
    const selected = signal<number | undefined>(undefined);
    const loaded = signal<Loaded>({ state: "loading", period: "day", uses: [] });
    const meter = (): Device | undefined => meterOf(ctx, devices.value);
    const period = (): PeriodName => chosen.value ?? ctx.settings.value.period;
    let wanted = "";
    const load = async (): Promise<void> => {
      const [device, shown, now] = [meter(), period(), ctx.now()];
      const path = device && pathOf(device, shown, now);
      if (path === undefined) return;
      const key = (wanted = `${device?.id} ${shown}`);
      const uses = await readUses(ctx, path, (answer) => usesIn(answer, shown, now));
      if (key !== wanted || ctx.signal.aborted) return;
      const known = uses ?? (loaded.peek().period === shown ? loaded.peek().uses : []);
      loaded.value = { state: uses ? "known" : "failed", period: shown, uses: known };
    };
    ctx.effect(() => {
      const isOnline = ctx.online.value; // read in each run, so that a reconnect runs this again
      if (`${meter()?.id} ${period()}` !== wanted || isOnline) void load();
    });
    ctx.every(REFRESH_MS, () => void load());

    const show = (next: PeriodName): void => {
      selected.value = undefined;
      chosen.value = next;
    };
    ctx.effect(() => {
      const device = meter();
      if (!device) return void render(empty(ctx, "No meter yet", NO_METER), root);
      const { state, uses, period: read } = loaded.value;
      if (state === "failed" && uses.length === 0)
        return void render(empty(ctx, "No statistics yet", NO_STATISTICS), root);
      const shown = { device, uses, period: read, chosen: period(), selected: selected.value };
      const select = (index: number | undefined): void => void (selected.value = index);
      render(card(ctx, shown, { show, select }), root);
    });
    return { handOver: period };
  },
});

const NO_METER = "A sensor that measures power or energy appears here automatically.";
const NO_STATISTICS = "Turn on the plugin History in the settings; it counts the energy.";

/** The meter in the settings; by default the first sensor that measures. */
function meterOf(ctx: Context, devices: readonly Device[]): Device | undefined {
  const { meter } = ctx.settings.value;
  const device = meter === "" ? undefined : ctx.device(meter).value;
  if (meter !== "") return device && meteredField(device) ? device : undefined;
  return devices.find((each) => each.kind === "sensor" && meteredField(each) !== undefined);
}

/** The energy in an answer; `undefined` if the history does not answer. */
async function readUses(
  ctx: Context,
  path: string,
  uses: (answer: unknown) => readonly Use[],
): Promise<readonly Use[] | undefined> {
  try {
    return uses(await (await ctx.read(path)).json());
  } catch {
    return undefined; // the widget shows it; the next interval tries again
  }
}

interface Shown {
  readonly device: Device;
  readonly uses: readonly Use[];
  /** The length of the bars. */
  readonly period: PeriodName;
  /** The pressed choice, whose bars may not be there yet. */
  readonly chosen: PeriodName;
  /** The index of the bar whose figures are shown; the current one if absent. */
  readonly selected: number | undefined;
}

interface Acts {
  readonly show: (period: PeriodName) => void;
  readonly select: (index: number | undefined) => void;
}

function card(ctx: Context, shown: Shown, acts: Acts): TemplateResult {
  const { device, uses, period } = shown;
  const { height } = ctx.size.value;
  const index = shown.selected ?? uses.length - 1;
  const use = uses[index];
  const amount = use?.kWh === undefined ? undefined : ctx.fmt.unit(use.kWh, "energy");
  const name = use && nameOf(ctx, use, { period, isCurrent: index === uses.length - 1 });
  return figureCard({
    title: ctx.t("Energy use"),
    hue: "energy",
    device: device.id,
    stale: !ctx.online.value,
    value: amount,
    note: [name, costOf(ctx, use?.kWh)].filter(Boolean).join(" · "),
    chart: html`${height >= CHOICE_PX ? choice(ctx, shown.chosen, acts) : nothing}
    ${height >= BARS_PX ? chart(ctx, { ...shown, selected: index }, acts) : nothing}`,
  });
}

function choice({ t }: Context, chosen: PeriodName, { show }: Acts): TemplateResult {
  return html`<div class="periods" role="group" aria-label=${t("Bars")}>
    ${(Object.keys(COUNTS) as PeriodName[]).map(
      (period) =>
        html`<button aria-pressed=${period === chosen} @click=${() => show(period)}>
          ${t(TITLES[period])}
        </button>`,
    )}
  </div>`;
}

function chart(ctx: Context, { uses, period, selected }: Shown, { select }: Acts): TemplateResult {
  const most = Math.max(...uses.map(({ kWh = 0 }) => kWh), 0.001);
  const total = totalOf(uses);
  const sum = [ctx.fmt.unit(total, "energy"), costOf(ctx, total)].filter(Boolean).join(" · ");
  return html`<div class="bars">
      ${uses.map((use, index) => {
        const { kWh } = use;
        const name = nameOf(ctx, use, { period, isCurrent: index === uses.length - 1 });
        const amount = kWh === undefined ? "–" : ctx.fmt.unit(kWh, "energy");
        const label = [name, amount, costOf(ctx, kWh)].filter(Boolean).join(" · ");
        const height = kWh === undefined ? 0 : Math.max(3, (Math.max(0, kWh) / most) * 100);
        return html`<button
          aria-label=${label}
          aria-pressed=${index === selected}
          @click=${() => select(index)}
        >
          <i .style=${`height: ${height}%`}></i>
        </button>`;
      })}
    </div>
    <p class="total">
      ${uses.length === 0 ? nothing : ctx.t("{amount} in all", { amount: sum })}
    </p>`;
}

/** The name of a day, week or month. */
function nameOf(
  { t, fmt, locale, timeZone }: Context,
  { from, to }: Use,
  { period, isCurrent }: { readonly period: PeriodName; readonly isCurrent: boolean },
): string {
  if (isCurrent) return t(CURRENT[period]);
  if (period === "day") return fmt.date(from, "short");
  const options: Intl.DateTimeFormatOptions =
    period === "month" ? { month: "long", year: "numeric" } : { day: "numeric", month: "short" };
  const format = new Intl.DateTimeFormat(locale.value, { ...options, timeZone: timeZone.value });
  return period === "month" ? format.format(from) : format.formatRange(from, to - 1);
}

/** The cost of an amount; empty without a price. */
function costOf({ fmt, settings: { value } }: Context, kWh: number | undefined): string {
  const { price, currency } = value;
  return price === 0 || kWh === undefined ? "" : costText(kWh * price, currency, fmt);
}

function empty({ t }: Context, title: string, text: string): TemplateResult {
  return html`<section class="card" aria-label=${t("Energy use")}>
    <div class="empty"><strong>${t(title)}</strong> ${t(text)}</div>
  </section>`;
}
