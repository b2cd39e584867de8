import { loadavg, uptime } from "node:os";
import { type Log, type MachineDisk, type Static, Type } from "@mantel/plugin-sdk";
import { SystemSample } from "./channels.ts";
import { CoreTimes, loadBetween, readCores } from "./cpu.ts";
import { readMemory, readTemperature, toDisks } from "./hardware.ts";
import { ratesBetween, readTraffic, Traffic } from "./network.ts";
import { SlowFact } from "./slow-fact.ts";

const TEMPERATURE_EVERY_MS = 15_000;
const DISKS_EVERY_MS = 60_000;

/** Base for computing rates, and the last slow values. Counters continue over a reload, so they are handed over. */
export const Counters = Type.Object({
  /** On the machine's monotonic clock, which all its processes share. */
  readAtMs: Type.Number(),
  cores: Type.Array(CoreTimes),
  traffic: Type.Array(Traffic),
  temperature: Type.Optional(SystemSample.properties.temperature),
  disks: Type.Optional(SystemSample.properties.disks),
});
export type Counters = Static<typeof Counters>;

/** The machine's monotonic clock, in milliseconds. */
export function machineMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/** Samples the machine: cheap values at each sample, slow ones at their own interval. */
export class Sampler {
  readonly #temperature: SlowFact<SystemSample["temperature"]>;
  readonly #disks: SlowFact<SystemSample["disks"]>;
  #counters: Counters;

  constructor(
    log: Log,
    listDisks: () => Promise<readonly MachineDisk[]>,
    { temperature = { cpuC: null, sensors: [] }, disks = [], ...counters }: Counters = {
      readAtMs: 0,
      cores: [],
      traffic: [],
    },
  ) {
    this.#counters = counters;
    this.#temperature = new SlowFact({
      name: "temperature",
      everyMs: TEMPERATURE_EVERY_MS,
      read: readTemperature,
      before: temperature,
      log,
    });
    this.#disks = new SlowFact({
      name: "disks",
      everyMs: DISKS_EVERY_MS,
      read: async () => toDisks(await listDisks()),
      before: disks,
      log,
    });
  }

  /** The counters of the last sample, and the last slow values. */
  get counters(): Counters {
    const [temperature, disks] = [this.#temperature.value, this.#disks.value];
    return { ...this.#counters, temperature, disks };
  }

  /** Starts the readings of slow values that are due. They start programs. */
  refresh(): void {
    this.#temperature.refresh();
    this.#disks.refresh();
  }

  /** One sample, with percentages and rates since the previous one. */
  async sample(): Promise<SystemSample> {
    const [memory, traffic] = await Promise.all([readMemory(), readTraffic()]);
    const before = this.#counters;
    const now = { readAtMs: machineMs(), cores: readCores(), traffic };
    this.#counters = now;
    const temperature = this.#temperature.value;
    return {
      sampledAt: new Date().toISOString(),
      cpu: {
        ...loadBetween(before.cores, now.cores),
        loadAverage: loadavg(),
        temperatureC: temperature.cpuC,
      },
      memory,
      temperature,
      uptime: { systemSeconds: uptime(), processSeconds: process.uptime() },
      disks: this.#disks.value,
      network: ratesBetween(before.traffic, now.traffic, now.readAtMs - before.readAtMs),
    };
  }
}
