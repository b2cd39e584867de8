import {
  type Capability,
  type DeviceState,
  MantelError,
  type StateValue,
} from "@mantel/plugin-sdk";
import type { Arranged } from "./arrange.ts";
import { isConfirmed } from "./coerce.ts";

/** Shorter than the host's deadline, so that the caller learns which value is missing. */
const CONFIRM_MS = 4_500;

/** Commands that wait until their device tells what was asked of it. */
export class Waiting {
  readonly #waiting = new Map<string, Set<(told: DeviceState) => void>>();

  /** Passes on a reported state. */
  told(nativeId: string, state: DeviceState): void {
    for (const hear of this.#waiting.get(nativeId) ?? []) hear(state);
  }

  /**
   * Waits for the fields of `asked`. Call it before sending the command: earlier reports do not
   * count.
   * @throws MantelError `deadline_passed`
   */
  confirmation(
    { nativeId, capabilities, kind, name }: Arranged,
    asked: DeviceState,
    now: DeviceState,
  ) {
    const open = new Map(Object.entries(asked));
    let resolve: () => void = () => undefined;
    let reject: (error: MantelError) => void = () => undefined;
    const confirmed = new Promise<void>((...settle) => ([resolve, reject] = settle));
    const hear = (told: DeviceState): void => {
      for (const [field, value] of open) {
        const capability = capabilities[field];
        const isMet = capability && meets({ capability, field, value, before: now[field] }, told);
        if (isMet || (kind === "cover" && isMoving(told))) open.delete(field);
      }
      if (open.size === 0) resolve();
    };
    hear({});
    const timer = setTimeout(() => {
      const fields = [...open.keys()].join(", ");
      reject(new MantelError("deadline_passed", `${name} has not confirmed ${fields}`));
    }, CONFIRM_MS);
    const of = this.#waiting.get(nativeId) ?? new Set();
    this.#waiting.set(nativeId, of.add(hear));
    const end = (): void => {
      clearTimeout(timer);
      of.delete(hear);
      if (of.size === 0) this.#waiting.delete(nativeId);
    };
    confirmed.catch(() => undefined);
    return { confirmed, end };
  }
}

interface Asked {
  readonly capability: Capability;
  readonly field: string;
  readonly value: StateValue;
  readonly before: StateValue | undefined;
}

/** Something that takes time to travel has obeyed when it has come nearer. */
const TRAVELS = new Set(["position", "tilt"]);

function meets({ capability, field, value, before }: Asked, told: DeviceState): boolean {
  const now = told[field];
  if (now !== undefined && isConfirmed(capability, value, now)) return true;
  const numbers = [value, before, now];
  if (!TRAVELS.has(field) || !numbers.every((each) => typeof each === "number")) return false;
  const [to = 0, from = 0, at = 0] = numbers;
  return Math.abs(to - at) < Math.abs(to - from);
}

const isMoving = ({ moving }: DeviceState) => moving === "opening" || moving === "closing";
