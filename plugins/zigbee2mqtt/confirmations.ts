import { type DeviceCommand, MantelError, withDeadline } from "@mantel/plugin-sdk";
import type { Thing } from "./discovery.ts";
import { type Feature, valueAt } from "./feature.ts";

/** Shorter than the host's own deadline, so that this error reaches the caller. */
const CONFIRM_MS = 4_500;
/**
 * A value that is never reported counts as confirmed if Zigbee2MQTT sends no error for this long.
 */
const UNTOLD_MS = 500;

/** A value that was set, and the way its device reports it. */
export interface Expected {
  readonly feature: Feature;
  readonly written: unknown;
}

interface Waiting {
  open: Expected[];
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/**
 * Commands that wait for the confirmation of their devices, by native id. The host sends one at a
 * time.
 */
export class Confirmations {
  readonly #waiting = new Map<string, Waiting>();

  /**
   * Resolves when later state messages have reported each requested value.
   * @throws MantelError `deadline_passed`, or the error passed to `fail`
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

  /** Handles a state published by a device. */
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

/**
 * The values to set, and the way they are reported. A light that is switched off is not sent a
 * level.
 */
export function expectedOf({ features }: Thing, command: DeviceCommand): Expected[] {
  return Object.entries(command).flatMap(([name, value]) => {
    const feature = features.find((each) => each.name === name);
    if (!feature?.write || (name === "brightness" && command["on"] === false)) return [];
    return [{ feature, written: feature.write(value) }];
  });
}
