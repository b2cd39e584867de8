import type { SystemSample } from "@mantel/plugin-sdk";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { SystemSample as SystemSampleSchema } from "@mantel/plugin-sdk/metrics";
import { Type, type Static } from "typebox";
import type { Bus } from "../events/bus.ts";
import { HostProcess, ProcessFigures } from "./host-process.ts";

const FIRST_SAMPLE_MS = 1_000;

/** The last sample of the machine, with figures of the host's own process from the same moment. */
export const SystemView = Type.Object({
  ...SystemSampleSchema.properties,
  process: ProcessFigures,
});
export type SystemView = Static<typeof SystemView>;

/** Stores the last sample of the machine for all readers. */
export class Samples {
  readonly #bus: Bus;
  readonly #process = new HostProcess();
  #current: SystemView | undefined;

  constructor({ bus }: { bus: Bus }) {
    this.#bus = bus;
  }

  /** Stores a valid sample. Replaces the uptime of its process by the host's. */
  accept(sample: SystemSample): void {
    const figures = this.#process.measure();
    const { systemSeconds } = sample.uptime;
    const shared = { ...sample, uptime: { systemSeconds, processSeconds: figures.uptimeSeconds } };
    this.#current = { ...shared, process: figures };
    this.#bus.emit("system.sample", shared);
  }

  /** @throws MantelError `service_unavailable` while no module samples the machine */
  current(): SystemView {
    if (this.#current) return this.#current;
    throw new MantelError(
      "service_unavailable",
      "the system is not sampled now; see the modules, or try again soon",
      {
        retryAfterMs: FIRST_SAMPLE_MS,
      },
    );
  }

  /** Removes the sample, because no module samples the machine now. */
  gone(): void {
    this.#current = undefined;
  }

  /** Stops measuring the event loop. */
  close(): void {
    this.#process.close();
  }
}
