import type { DeviceCommand } from "../device.ts";

/** Fields that say opposite things, or the same thing in two ways. Of each group a device can follow only one. */
const GROUPS: readonly (readonly string[])[] = [
  ["open", "close", "stop"],
  ["start", "pause", "stop", "dock"],
  ["next", "previous"],
];
/** Commands without state, and the settings that each of them contradicts. */
const SETTINGS: Readonly<Record<string, readonly string[]>> = {
  open: ["position", "on"],
  close: ["position", "on"],
  stop: ["position", "tilt", "on"],
  unlatch: ["locked"],
};

/** Commands without state, and the values that each of them changes. */
const RESULTS: Readonly<Record<string, readonly string[]>> = {
  ...SETTINGS,
  stop: [...(SETTINGS["stop"] ?? []), "action"],
  start: ["action"],
  pause: ["action"],
  dock: ["action"],
  next: ["title", "artist", "album", "duration"],
  previous: ["title", "artist", "album", "duration"],
  install: ["progress", "installedVersion"],
};

const CONTRADICTIONS: ReadonlyMap<string, ReadonlySet<string>> = contradictions();

/**
 * The values of two commands for the same part that are sent as one: of each field the later value, and of fields
 * that contradict each other the later one. A command with a code is never mixed with another, because the code is
 * meant for it alone: the later command then replaces the whole earlier one.
 */
export function mergedCommand(earlier: DeviceCommand, later: DeviceCommand): DeviceCommand {
  if (Object.hasOwn(earlier, "code") || Object.hasOwn(later, "code")) return later;
  const contradicted = new Set(
    Object.keys(later).flatMap((name) => [...(CONTRADICTIONS.get(name) ?? [])]),
  );
  if (contradicted.size === 0) return { ...earlier, ...later };
  const kept = Object.entries(earlier).filter(([name]) => !contradicted.has(name));
  return { ...Object.fromEntries(kept), ...later };
}

/** The values of a state that a field of a command changes: its own and, of a command without state, others. */
export function resultsOf(name: string): readonly string[] {
  return Object.hasOwn(RESULTS, name) ? [name, ...(RESULTS[name] ?? [])] : [name];
}

function contradictions(): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  const add = (name: string, other: string) => {
    if (name === other) return;
    found.set(name, (found.get(name) ?? new Set()).add(other));
  };
  for (const group of GROUPS) for (const name of group) for (const other of group) add(name, other);
  for (const [name, settings] of Object.entries(SETTINGS)) {
    for (const setting of settings) {
      add(name, setting);
      add(setting, name);
    }
  }
  return found;
}
