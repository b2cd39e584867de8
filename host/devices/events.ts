import { DeviceEvent } from "@mantel/plugin-sdk/device";
import type { Bus } from "../events/bus.ts";
import type { HostLog } from "../log.ts";
import { check } from "../validate.ts";
import { LeftOut } from "./left-out.ts";

/** Events of one bridge that may come in a second; a bridge that presses faster is broken. */
const PER_SECOND = 50;

interface Parts {
  readonly bus: Bus;
  readonly log: HostLog;
}

/** Announces what happens at devices, as far as it fits and is not too much. */
export class DeviceEvents {
  readonly #parts: Parts;
  readonly #idOf: (bridgeId: string, nativeId: string) => string | undefined;
  readonly #leftOut: LeftOut;
  /** Events of the second that runs, of each bridge. */
  readonly #taken = new Map<string, number>();
  #second = 0;

  constructor(parts: Parts, idOf: (bridgeId: string, nativeId: string) => string | undefined) {
    this.#parts = parts;
    this.#idOf = idOf;
    this.#leftOut = new LeftOut(parts.log, "an event of a device was left out");
  }

  take(bridgeId: string, input: unknown): void {
    try {
      const { nativeId, event, data } = check(DeviceEvent, input, `an event of ${bridgeId}`);
      const deviceId = this.#idOf(bridgeId, nativeId);
      if (deviceId === undefined) throw new Error(`${nativeId} was not published`);
      if (!this.#mayCome(bridgeId)) throw new Error(`over ${PER_SECOND} a second`);
      const at = new Date().toISOString();
      this.#parts.bus.announce("device.event", { deviceId, event, at, ...(data ? { data } : {}) });
    } catch (error) {
      this.#leftOut.add(bridgeId, error);
    }
  }

  #mayCome(bridgeId: string): boolean {
    const second = Math.floor(performance.now() / 1_000);
    if (second !== this.#second) this.#taken.clear();
    this.#second = second;
    const taken = this.#taken.get(bridgeId) ?? 0;
    this.#taken.set(bridgeId, taken + 1);
    return taken < PER_SECOND;
  }
}
