import { type DeviceCommand, MantelError, withDeadline } from "@mantel/plugin-sdk";
import type { Thing } from "./discovery.ts";
import { type Feature, valueAt } from "./feature.ts";

/** Before the host's own deadline, so that its words reach the caller. */
const CONFIRM_MS = 4_500;
/** What no state message tells counts as done when Zigbee2MQTT has had nothing against it for so long. */
const UNTOLD_MS = 500;

/** One value that was set, and how its device will tell of it. */
export interface Expected {
  readonly feature: Feature;
  readonly written: unknown;
}

interface Waiting {
  open: Expected[];
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Commands whose devices have not confirmed them yet, by native id. The host sends one at a time. */
export class Confirmations {
  readonly #waiting = new Map<string, Waiting>();

  /**
   * Resolves when state messages have carried every value that was asked for, whatever they said before.
   * @throws MantelError `deadline_passed`, or what `fail` was given
   */
  async wait(nativeId: string, expected: readonly Expected[], name: string): Promise<void> {
    const told = expected.filter(({ feature }) => feature.isTold);
    const confirmed = new Promise<void>((resolve, reject) => {
      this.#waiting.set(nativeId, { open: told, resolve, reject });
    });
    const untold = told.length === 0;
    try {
      await withDeadline(confirmed, untold ? UNTOLD_MS : CONFIRM_MS, `the answer of ${name}`);
    } catch (error) {
      const isLate = error instanceof MantelError && error.code === "deadline_passed";
      if (!(untold && isLate)) throw error;
    } finally {
      this.#waiting.delete(nativeId);
    }
  }

  /** A device has published its state. */
  told(nativeId: string, payload: unknown): void {
    const waiting = this.#waiting.get(nativeId);
    if (!waiting || waiting.open.length === 0) return;
    waiting.open = waiting.open.filter((each) => !isConfirmed(each, payload));
    if (waiting.open.length === 0) waiting.resolve();
  }

  fail(nativeId: string, error: Error): void {
    this.#waiting.get(nativeId)?.reject(error);
  }

  failAll(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
  }
}

function isConfirmed({ feature, written }: Expected, payload: unknown): boolean {
  const raw = valueAt(payload, feature.path);
  if (raw === undefined || raw === null) return false;
  return feature.confirms?.(raw, written) ?? raw === written;
}

/** What is set, and how it is told. A light that is turned off is not told a level as well. */
export function expectedOf({ features }: Thing, command: DeviceCommand): Expected[] {
  return Object.entries(command).flatMap(([name, value]) => {
    const feature = features.find((each) => each.name === name);
    if (!feature?.write || (name === "brightness" && command["on"] === false)) return [];
    return [{ feature, written: feature.write(value) }];
  });
}
