import { DeviceEvent } from "@mantel/plugin-sdk/device";
import { type Fault, MantelError } from "@mantel/plugin-sdk/errors";
import type { Bus } from "../events/bus.ts";
import { check, invalid } from "../validate.ts";

/** The most events per second of one bridge; a bridge with more is broken. */
const PER_SECOND = 50;

/** Announces valid events of devices, within the rate limit. */
export class DeviceEvents {
  readonly #bus: Bus;
  readonly #idOf: (bridgeId: string, nativeId: string) => string | undefined;
  /** The events of each bridge in the current second. */
  readonly #taken = new Map<string, number>();
  #second = 0;

  constructor(bus: Bus, idOf: (bridgeId: string, nativeId: string) => string | undefined) {
    this.#bus = bus;
    this.#idOf = idOf;
  }

  /** @throws MantelError `invalid`, `bridge_rate_limited` */
  take(bridgeId: string, input: unknown): void {
    const what = `an event of ${bridgeId}`;
    const { nativeId, event, data } = check(DeviceEvent, input, what);
    const deviceId = this.#idOf(bridgeId, nativeId);
    if (deviceId === undefined) throw invalid(what, [notPublished(nativeId)]);
    if (!this.#isWithinRate(bridgeId)) {
      throw new MantelError(
        "bridge_rate_limited",
        `${what} exceeds the limit of ${PER_SECOND} events per second`,
      );
    }
    const at = new Date().toISOString();
    this.#bus.emit("device.event", { deviceId, event, at, ...(data ? { data } : {}) });
  }

  #isWithinRate(bridgeId: string): boolean {
    const second = Math.floor(performance.now() / 1_000);
    if (second !== this.#second) this.#taken.clear();
    this.#second = second;
    const counts = this.#taken.get(bridgeId) ?? 0;
    this.#taken.set(bridgeId, counts + 1);
    return counts < PER_SECOND;
  }
}

/** The fault for a device that its bridge has not published. */
export function notPublished(nativeId: string): Fault {
  return { pointer: "/nativeId", detail: `is ${nativeId}, which was not published` };
}
