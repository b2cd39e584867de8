import type * as Library from "prom-client";
import { unreadRecordCount } from "../log.ts";
import { LoopLag, openDescriptors } from "../machine/host-process.ts";
import type { ModuleManager } from "../modules/manager.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { type AnsweredRequest, RequestMetrics } from "./request-metrics.ts";

const LAG_PERCENTILES = [50, 99, 100];

/** The metrics of `GET /metrics`, in Prometheus' text format (version 0.0.4). */
export class Metrics {
  readonly #parts: HttpDependencies;
  readonly #lag = new LoopLag();
  readonly #requests = new RequestMetrics();
  #exposition: Promise<Exposition> | undefined;

  constructor(parts: HttpDependencies) {
    this.#parts = parts;
  }

  readonly contentType = "text/plain; version=0.0.4; charset=utf-8";

  count(request: AnsweredRequest): void {
    this.#requests.count(request);
  }

  /** The library is loaded for the first request: most homes have no Prometheus. */
  async text(): Promise<string> {
    this.#exposition ??= import("prom-client").then(
      (library) => new Exposition(library, this.#parts, this.#requests, this.#lag),
    );
    return (await this.#exposition).text();
  }
}

/**
 * All metrics. Figures of modules are read on request. Label values come from this home (routes, module ids), never
 * from a request: every series is kept for ever.
 */
class Exposition {
  readonly #library: typeof Library;
  readonly #registry: Library.Registry;

  constructor(
    library: typeof Library,
    parts: HttpDependencies,
    requests: RequestMetrics,
    lag: LoopLag,
  ) {
    this.#library = library;
    this.#registry = new library.Registry();
    this.#add("Counter", {
      name: "http_requests_total",
      help: "Answered requests",
      labels: ["method", "route", "status"],
      values: () => requests.answers(),
    });
    requests.registerDurations(this.#registry, "mantel_http_request_duration_seconds");
    this.#addHost(parts, lag);
    this.#addProcess();
    this.#addModules(parts.modules);
    this.#addWork(parts.modules);
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  #addHost({ version, streams, channels }: HttpDependencies, lag: LoopLag): void {
    this.#add("Gauge", {
      name: "info",
      help: "1, with the running versions",
      labels: ["version", "node"],
      values: () => [[{ version, node: process.versions.node }, 1]],
    });
    this.#add("Gauge", {
      name: "event_loop_lag_seconds",
      help: "Delay of the host's event loop since the last read",
      labels: ["percentile"],
      values() {
        const values = LAG_PERCENTILES.map((percentile): Value => {
          return [{ percentile }, lag.percentileMs(percentile) / 1e3];
        });
        lag.reset();
        return values;
      },
    });
    this.#add("Gauge", {
      name: "event_streams",
      help: "Open event streams",
      values: () => [[{}, streams.streams]],
    });
    this.#add("Counter", {
      name: "event_streams_dropped_total",
      help: "Event streams that were closed because their clients did not read",
      values: () => [[{}, streams.dropped]],
    });
    this.#add("Counter", {
      name: "channel_values_total",
      help: "Values of channels that the host took, since it started",
      values: () => [[{}, channels.taken]],
    });
    this.#add("Counter", {
      name: "log_records_dropped_total",
      help: "Records of the host's log that were dropped because standard error was not read",
      values: () => [[{}, unreadRecordCount()]],
    });
  }

  #addProcess(): void {
    for (const [name, [help, value]] of Object.entries(PROCESS_FIGURES)) {
      const values = () =>
        [[{}, value()] satisfies Value].filter(([, read]) => !Number.isNaN(read));
      const kind = name.endsWith("_total") ? "Counter" : "Gauge";
      this.#add(kind, { name: `process_${name}`, help, values });
    }
  }

  #addModules(modules: ModuleManager): void {
    for (const [name, [help, figure, unit]] of Object.entries(MODULE_FIGURES)) {
      const values = (): Value[] =>
        modules.list().flatMap(({ id, resources }): Value[] => {
          const value = resources[figure];
          return value === null ? [] : [[{ module: id }, value * unit]];
        });
      this.#add("Gauge", { name: `module_${name}`, help, labels: ["module"], values });
    }
    this.#add("Gauge", {
      name: "module_state",
      help: "1 for the current state of a module",
      labels: ["module", "state"],
      values: () => modules.list().map(({ id, state }) => [{ module: id, state }, 1]),
    });
    this.#add("Counter", {
      name: "module_restarts_total",
      help: "Starts after a crash, since the host started",
      labels: ["module"],
      values: () => modules.list().map(({ id, restarts }) => [{ module: id }, restarts]),
    });
  }

  #addWork(modules: ModuleManager): void {
    for (const [name, [help, count]] of Object.entries(WORK_COUNTS)) {
      this.#add("Counter", {
        name: `module_${name}_total`,
        help: `${help}, since the host started`,
        labels: ["module"],
        values: () => modules.work().map((work) => [{ module: work.id }, work[count]]),
      });
    }
  }

  /** A metric whose values are read on each request, and removed with their module. */
  #add(kind: "Counter" | "Gauge", { name, help, labels = [], values }: Reading): void {
    const metric: Library.Counter | Library.Gauge = new this.#library[kind]({
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

const PROCESS_FIGURES: Readonly<Record<string, readonly [help: string, value: () => number]>> = {
  memory_bytes: ["Resident memory of the host's process", () => process.memoryUsage.rss()],
  heap_bytes: ["JavaScript heap in use", () => process.memoryUsage().heapUsed],
  open_descriptors: ["Open files, sockets and pipes", openDescriptors],
  start_time_seconds: [
    "When the process started, in seconds since 1970",
    () => Math.round(performance.timeOrigin) / 1_000,
  ],
  cpu_seconds_total: [
    "Processor time of the host's process",
    () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    },
  ],
};

/** Each with the factor that converts its value: Prometheus wants seconds and ratios. */
const MODULE_FIGURES = {
  cpu_ratio: ["Share of one core", "cpuPercent", 0.01],
  memory_bytes: ["Private memory of the process", "memoryBytes", 1],
  heap_bytes: ["JavaScript heap in use", "heapBytes", 1],
  storage_bytes: ["Disk space of its storage", "storageBytes", 1],
  loop_lag_seconds: ["Delay of its event loop, 99th percentile", "loopLagP99Ms", 0.001],
} as const;

const WORK_COUNTS = {
  calls: ["Calls to the plugin", "calls"],
  errors: ["Calls that failed", "errors"],
  reloads: ["Reloads", "reloads"],
  drops: ["Calls that were refused before the plugin saw them", "drops"],
  log_drops: ["Log records that were dropped because there were too many", "logDrops"],
} as const;
