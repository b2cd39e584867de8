import type { DeviceDescription, DeviceUpdate } from "../device.ts";
import { type Fault, MantelError } from "../errors.ts";
import { faultsOfNumbers } from "../finite-numbers.ts";
import type { HostApi } from "../protocol.ts";
import type { HostLink } from "./host-link.ts";
import { createLog } from "./log.ts";

/** Wrong numbers in updates that are logged. */
const MOST_LOGGED = 100;

/**
 * A connection to the host by JSON, which turns NaN and Infinity into null. A device list with one is refused, and an
 * update is dropped with a message to the author.
 */
export class FiniteNumbersHost implements HostLink {
  readonly #host: HostLink;
  /** The device and the place of each wrong number that is in the log. A sensor repeats it. */
  readonly #logged = new Set<string>();

  constructor(host: HostLink) {
    this.#host = host;
  }

  async call<M extends keyof HostApi>(
    method: M,
    input: Parameters<HostApi[M]>[0],
  ): Promise<Awaited<ReturnType<HostApi[M]>>> {
    if (method === "publishDevices") requireFiniteNumbers(input);
    return this.#host.call(method, input);
  }

  notify<M extends keyof HostApi>(method: M, input: Parameters<HostApi[M]>[0]): void {
    if (method !== "updateDevices") return this.#host.notify(method, input);
    const updates = (input as DeviceUpdate[]).filter((update) => this.#isFinite(update));
    if (updates.length > 0) this.#host.notify("updateDevices", updates);
  }

  #isFinite(update: DeviceUpdate): boolean {
    const [fault] = faultsOfNumbers(update);
    if (fault) this.#log(update.nativeId, fault);
    return fault === undefined;
  }

  #log(nativeId: string, { pointer, detail }: Fault): void {
    const place = `${pointer} of ${nativeId}`;
    if (this.#logged.has(place) || this.#logged.size >= MOST_LOGGED) return;
    this.#logged.add(place);
    createLog(this.#host).error(`device update dropped: ${place} ${detail}`);
  }
}

/** @throws MantelError `invalid`, with every fault of the first device that has one */
function requireFiniteNumbers(devices: unknown): void {
  if (!Array.isArray(devices)) return; // the host refuses it
  for (const [index, device] of (devices as DeviceDescription[]).entries()) {
    const faults = faultsOfNumbers(device);
    const [first] = faults;
    if (!first) continue;
    const sentence = `the device list is invalid: ${first.pointer} of ${device.nativeId} ${first.detail}`;
    const errors = faults.map(({ pointer, detail }) => ({
      pointer: `/${index}${pointer}`,
      detail,
    }));
    throw new MantelError("invalid", sentence, { errors });
  }
}
