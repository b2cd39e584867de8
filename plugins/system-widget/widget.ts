import { defineWidget, s, type SystemSample } from "@mantel/plugin-sdk/widget";
import { signal } from "@preact/signals-core";
import { html, nothing, render, svg } from "lit";
import { sparkline } from "./widget/sparkline.ts";
import styles from "./widget.css";

/** Five minutes at the usual sample rate. */
const HISTORY = 60;

const METRICS = {
  cpu: { title: "Server CPU", unit: "%", ceiling: 100, hue: "cool" },
  memory: { title: "Memory", unit: "%", ceiling: 100, hue: "info" },
  temperature: { title: "Temperature", unit: "°", ceiling: 100, hue: "heat" },
} as const;
type Metric = keyof typeof METRICS;

const settings = {
  metric: s.choice(["cpu", "memory", "temperature"], { title: "Figure", default: "cpu" }),
};

export default defineWidget<typeof settings, readonly SystemSample[]>({
  name: "System",
  icon: "mdi:server",
  size: { default: [2, 4], min: [2, 3] },
  settings,
  styles,
  mount(root, ctx) {
    const sample = ctx.channel("system");
    const history = signal<readonly SystemSample[]>(ctx.kept ?? []);
    ctx.effect(() => {
      const latest = sample.value;
      if (latest && history.peek().at(-1)?.sampledAt !== latest.sampledAt) {
        history.value = [...history.peek(), latest].slice(-HISTORY);
      }
    });

    ctx.effect(() => {
      const metric = ctx.settings.value.metric;
      const { title, unit, ceiling, hue } = METRICS[metric];
      const values = history.value.map((each) => valueOf(metric, each));
      const last = values.at(-1);
      const figure =
        last === undefined || last === null
          ? html`<b class="none">${last === null ? "No sensor" : "–"}</b>`
          : html`<b
              >${ctx.fmt.number(last, { maximumFractionDigits: 0 })}<small>${unit}</small></b
            >`;
      const { line, area } = sparkline(values, ceiling);
      render(
        html`<section aria-label=${title} .style=${`--hue: var(--mantel-hue-${hue})`}>
          <p><span>${title}</span>${figure}</p>
          ${line === "" ? nothing : chart(line, area)}
        </section>`,
        root,
      );
    });
    return { keep: () => history.peek() };
  },
});

function valueOf(metric: Metric, { cpu, memory, temperature }: SystemSample): number | null {
  switch (metric) {
    case "cpu":
      return cpu.percent;
    case "memory":
      return memory.percent;
    case "temperature":
      return temperature.cpuC;
  }
}

function chart(line: string, area: string): unknown {
  return html`<svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
    ${svg`<path class="area" d=${area}></path><path class="line" d=${line}></path>`}
  </svg>`;
}
