import { type Figure, figureCard } from "@mantel/plugin-sdk/ui/figure-card";
import { sparkline } from "@mantel/plugin-sdk/ui/sparkline";
import { defineWidget, s, type WidgetContext } from "@mantel/plugin-sdk/widget";
import { signal } from "@preact/signals-core";
import { render } from "lit";
import { previewSample } from "./widget/preview.ts";
import type { Sample, SystemChannels } from "./widget/sample.ts";
import styles from "@mantel/plugin-sdk/ui/card.css";

/** Five minutes at the usual sample rate. */
const HISTORY = 60;

const PERCENT = { span: 20, floor: 0, ceiling: 100 };
const METRICS = {
  cpu: { title: "Server CPU", hue: "cool", scale: PERCENT },
  memory: { title: "Memory", hue: "info", scale: PERCENT },
  temperature: { title: "Temperature", hue: "heat", scale: { span: 20 } },
  disk: { title: "Disk", hue: "media", scale: PERCENT },
} as const;
type Metric = keyof typeof METRICS;

const settings = {
  metric: s.choice(["cpu", "memory", "temperature", "disk"], { title: "Figure", default: "cpu" }),
};
type Context = WidgetContext<typeof settings, readonly Sample[]>;

export default defineWidget<typeof settings, readonly Sample[]>({
  name: "System",
  icon: "mdi:server",
  size: { default: [2, 4], min: [2, 4], max: [8, 12] },
  texts: {
    de: {
      System: "System",
      Figure: "Wert",
      "Server CPU": "Server-CPU",
      Memory: "Speicher",
      Temperature: "Temperatur",
      Disk: "Festplatte",
      "No sensor": "Kein Sensor",
      cpu: "CPU",
      memory: "Speicher",
      temperature: "Temperatur",
      disk: "Festplatte",
    },
  },
  settings,
  preview: () => ({ "system/sample": previewSample() }),
  styles,
  mount(root, ctx) {
    const sample = ctx.channel<SystemChannels>("system/sample");
    const history = signal<readonly Sample[]>(ctx.handedOver ?? []);
    ctx.effect(() => {
      const latest = sample.value;
      if (latest && history.peek().at(-1)?.sampledAt !== latest.sampledAt) {
        history.value = [...history.peek(), latest].slice(-HISTORY);
      }
    });
    ctx.effect(() => void render(figureCard(figureOf(ctx, history.value)), root));
    return { handOver: () => history.peek() };
  },
});

function figureOf(ctx: Context, history: readonly Sample[]): Figure {
  const { metric } = ctx.settings.value;
  const { title, hue, scale } = METRICS[metric];
  const values = history.map((each) => valueOf(metric, each));
  const last = values.at(-1);
  const sampledAt = history.at(-1)?.sampledAt;
  const stale = !ctx.online.value;
  const age = stale && sampledAt ? ctx.fmt.relative(Date.parse(sampledAt)) : undefined;
  return {
    title: ctx.t(title),
    hue,
    stale,
    ...shown(ctx, metric, last),
    note: last === null ? ctx.t("No sensor") : age,
    chart: sparkline(values, scale),
  };
}

function shown(
  { fmt }: Context,
  metric: Metric,
  value: number | null | undefined,
): Pick<Figure, "value" | "unit"> {
  if (value === null || value === undefined) return {};
  if (metric === "temperature") return { value: fmt.unit(value, "temperature") };
  return { value: fmt.number(value, { maximumFractionDigits: 0 }), unit: "%" };
}

function valueOf(metric: Metric, { cpu, memory, temperature, disks }: Sample): number | null {
  switch (metric) {
    case "cpu":
      return cpu.percent;
    case "memory":
      return memory.percent;
    case "temperature":
      return temperature.cpuC;
    case "disk":
      return disks.length === 0 ? null : Math.max(...disks.map(({ percent }) => percent ?? 0));
  }
}
