import { isDeepStrictEqual } from "node:util";
import type { Cause } from "@mantel/plugin-sdk/cause";
import type { Device } from "@mantel/plugin-sdk/device";
import { type BySection, EXTRA, OWN, sectionsOf } from "@mantel/plugin-sdk/device-sections";
import { resultsOf } from "@mantel/plugin-sdk/vocabulary";

/** The cause of a changed device. */
export interface ChangeCause {
  readonly cause: Cause;
  /** The causes of changed values with another one, by path: `power`, `parts/light/on`, `extra/childLock`. */
  readonly causes?: Readonly<Record<string, Cause>>;
}

interface Commanded {
  readonly cause: Cause;
  /** Monotonic; infinite while the command is in flight. */
  until: number;
}

/** Ends a command: changes still count as its results for this time, in milliseconds. */
export type EndCommand = (settleMs: number) => void;

/**
 * Finds the cause of each changed value. A change of a value that a command set is caused by that command while it is
 * in flight and for a time after it; any other change is the device's own.
 */
export class DeviceCauses {
  /** By device and path. */
  readonly #commanded = new Map<string, Map<string, Commanded>>();

  /** Records a command that is sent now, with the causes of its fields. */
  begin(id: string, causes: BySection<ReadonlyMap<string, Cause>>): EndCommand {
    const ofDevice = this.#commanded.get(id) ?? new Map<string, Commanded>();
    const begun = new Map<string, Commanded>();
    for (const [key, ofSection] of causes) {
      for (const [name, cause] of ofSection) {
        for (const result of resultsOf(name)) {
          const commanded = { cause, until: Infinity };
          begun.set(pathOf(key, result), commanded);
          ofDevice.set(pathOf(key, result), commanded);
        }
      }
    }
    if (begun.size > 0) this.#commanded.set(id, ofDevice);
    return (settleMs) => {
      const until = performance.now() + settleMs;
      for (const commanded of begun.values()) commanded.until = until;
    };
  }

  /** The cause of what differs. A change that no command caused is the device's own. */
  of(before: Device, after: Device): ChangeCause {
    const own: Cause = { kind: "device", id: after.id, name: after.name };
    const commanded = this.#current(after.id);
    if (!commanded) return { cause: own };
    const causes = changedPaths(before, after).map(
      (path) => [path, commanded.get(path)?.cause ?? own] as const,
    );
    const cause = causes.findLast(([, each]) => each !== own)?.[1] ?? own;
    const others = causes.filter(([, each]) => each !== cause);
    return others.length === 0 ? { cause } : { cause, causes: Object.fromEntries(others) };
  }

  /** The commanded values of a device that may still change because of a command. */
  #current(id: string): ReadonlyMap<string, Commanded> | undefined {
    const commanded = this.#commanded.get(id);
    if (!commanded) return undefined;
    const now = performance.now();
    for (const [path, { until }] of commanded) if (until <= now) commanded.delete(path);
    if (commanded.size > 0) return commanded;
    this.#commanded.delete(id);
    return undefined;
  }
}

function changedPaths(before: Device, after: Device): string[] {
  const previous = new Map(sectionsOf(before).map(({ key, state }) => [key, state]));
  return sectionsOf(after).flatMap(({ key, state }) => {
    const earlier = previous.get(key);
    if (earlier === state) return [];
    return Object.keys(state)
      .filter((name) => !isDeepStrictEqual(earlier?.[name], state[name]))
      .map((name) => pathOf(key, name));
  });
}

function pathOf(key: string, name: string): string {
  if (key === OWN) return name;
  return key === EXTRA ? `extra/${name}` : `parts/${key}/${name}`;
}
