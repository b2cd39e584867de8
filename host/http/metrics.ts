import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { LoopLag } from "../system/host-process.ts";
import type { ModulesPart } from "./parts.ts";

const LAG_PERCENTILES = [50, 99, 100];

/** What `GET /metrics` shows, in Prometheus' text format. Figures of modules are read when asked for. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #lag = new LoopLag();
  readonly #requests: Counter<"method" | "route" | "status">;
  readonly #durations: Histogram<"route">;

  constructor(modules: Pick<ModulesPart, "list" | "work">) {
    const registers = [this.#registry];
    this.#requests = new Counter({
      name: "mantel_http_requests_total",
      help: "Answered requests",
      labelNames: ["method", "route", "status"],
      registers,
    });
    this.#durations = new Histogram({
      name: "mantel_http_request_duration_seconds",
      help: "Time from the head of a request to the head of its answer",
      labelNames: ["route"],
      buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
      registers,
    });
    this.#addHost();
    this.#addModules(modules);
  }

  readonly contentType: string = Registry.PROMETHEUS_CONTENT_TYPE;

  count(request: { method: string; route: string; status: number; durationMs: number }): void {
    const { method, route, status, durationMs } = request;
    this.#requests.inc({ method, route, status });
    this.#durations.observe({ route }, durationMs / 1000);
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  #addHost(): void {
    const lag = this.#lag;
    this.#read(Gauge, {
      name: "event_loop_lag_seconds",
      help: "Delay of the host's event loop since the last read",
      labels: ["quantile"],
      values() {
        const values = LAG_PERCENTILES.map((percentile): Value => {
          return [{ quantile: percentile / 100 }, lag.percentileMs(percentile) / 1e3];
        });
        lag.reset();
        return values;
      },
    });
    this.#read(Gauge, {
      name: "process_memory_bytes",
      help: "Resident memory of the host's process",
      values: () => [[{}, process.memoryUsage.rss()]],
    });
    this.#read(Counter, {
      name: "process_cpu_seconds_total",
      help: "Processor time of the host's process",
      values() {
        const { user, system } = process.cpuUsage();
        return [[{}, (user + system) / 1e6]];
      },
    });
  }

  #addModules(modules: Pick<ModulesPart, "list" | "work">): void {
    const figures = {
      cpu_percent: ["Share of one core, in percent", "cpuPercent"],
      memory_bytes: ["Real memory of the process", "memoryBytes"],
      heap_bytes: ["JavaScript heap in use", "heapBytes"],
      loop_lag_milliseconds: ["Delay of its event loop, 99th percentile", "loopLagP99Ms"],
    } as const;
    for (const [name, [help, figure]] of Object.entries(figures)) {
      const values = () =>
        modules
          .list()
          .map(({ id, resources }): Value => [{ module: id }, resources[figure] ?? Number.NaN])
          .filter(([, value]) => !Number.isNaN(value));
      this.#read(Gauge, { name: `module_${name}`, help, labels: ["module"], values });
    }
    this.#read(Gauge, {
      name: "module_state",
      help: "1 for the state a module is in",
      labels: ["module", "state"],
      values: () => modules.list().map(({ id, state }) => [{ module: id, state }, 1]),
    });
    const counts = {
      calls: ["Calls of the plugin", "calls"],
      errors: ["Calls that failed", "errors"],
      reloads: ["Reloads", "reloads"],
      drops: ["Calls that were refused before the plugin saw them", "drops"],
      log_drops: ["Log records that were left out because there were too many", "logDrops"],
    } as const;
    for (const [name, [help, count]] of Object.entries(counts)) {
      this.#read(Counter, {
        name: `module_${name}_total`,
        help: `${help}, since the host started`,
        labels: ["module"],
        values: () => modules.work().map((work) => [{ module: work.id }, work[count]]),
      });
    }
  }

  /** A metric whose values are asked for at each read, and forgotten with what they were of. */
  #read(Kind: typeof Gauge | typeof Counter, { name, help, labels = [], values }: Reading): void {
    const metric: Gauge | Counter = new Kind({
      name: `mantel_${name}`,
      help,
      labelNames: labels,
      registers: [this.#registry],
      collect() {
        metric.reset();
        for (const [of, value] of values()) metric.inc(of, value);
      },
    });
  }
}

type Value = [labels: Record<string, string | number>, value: number];

interface Reading {
  readonly name: string;
  readonly help: string;
  readonly labels?: string[];
  readonly values: () => Value[];
}
