import { type CommandBody, DEVICE_KINDS, type DeviceKind } from "@mantel/plugin-sdk/device";
import { canonicalCapability } from "@mantel/plugin-sdk/vocabulary";

/** A new name for a field; or, by its former values, the commands without state that replace them. */
type Renamed = string | Readonly<Record<string, string>>;

const COVER_COMMANDS = {
  opening: "open",
  closing: "close",
  stopped: "stop",
  OPEN: "open",
  CLOSE: "close",
  STOP: "stop",
};

/** Fields of commands that had other names before the vocabulary, by kind of device. */
const COMMANDS: Partial<Record<DeviceKind, Readonly<Record<string, Renamed>>>> = {
  cover: { moving: COVER_COMMANDS, state: COVER_COMMANDS },
  "media-player": { skip: { next: "next", previous: "previous" } },
  vacuum: {
    action: { start: "start", pause: "pause", stop: "stop", dock: "dock", locate: "locate" },
    suction: "fanSpeed",
  },
  thermostat: { swingMode: "swing", state: "on" },
  sensor: { state: "on" }, // of a switch that was taken for a sensor
};

/** Reported fields that had other names before the vocabulary, by kind of device. */
const READINGS: Partial<Record<DeviceKind, Readonly<Record<string, string>>>> = {
  cover: { moving: "action" },
  vacuum: { mode: "action", suction: "fanSpeed" },
  thermostat: { heating: "action", swingMode: "swing" },
  sensor: { soilMoisture: "moisture", aqi: "airQualityIndex" },
};

/** A replaced name, for the log. */
export interface Rename {
  readonly from: string;
  readonly to: string;
}

/** A command of a stored document in the words of the vocabulary, and the names that were replaced. */
export function withoutFormerNames(
  deviceId: string,
  command: CommandBody,
): { command: CommandBody; renames: readonly Rename[] } {
  const kind = kindOf(deviceId);
  if (kind === undefined || typeof command !== "object" || command === null) {
    return { command, renames: [] };
  }
  const renames: Rename[] = [];
  const fields = Object.entries(command).map(([name, value]) => {
    const [to, next] = renamed(kind, name, value);
    if (to !== name || next !== value) renames.push({ from: name, to });
    return [to, next] as const;
  });
  return renames.length === 0
    ? { command, renames }
    : { command: Object.fromEntries(fields), renames };
}

function renamed(
  kind: DeviceKind,
  name: string,
  value: CommandBody[string],
): readonly [string, CommandBody[string]] {
  const former = own(COMMANDS[kind], name);
  if (typeof former === "string") return [former, value];
  const command = former && typeof value === "string" ? own(former, value) : undefined;
  if (command !== undefined) return [command, true];
  const isCommand = canonicalCapability(kind, name)?.types.includes("command") ?? false;
  return [name, isCommand && typeof value === "string" ? true : value]; // "press" was a choice
}

/** The present name of a field in the settings of a tile for this device. */
export function withoutFormerName(deviceId: string, field: string): string {
  const kind = kindOf(deviceId);
  return (kind && own(READINGS[kind], field)) ?? field;
}

/** The kind in the id of a device. It may have become more exact since. */
function kindOf(deviceId: string): DeviceKind | undefined {
  return DEVICE_KINDS.find((kind) => kind === deviceId.split(":")[1]);
}

function own<Value>(table: Readonly<Record<string, Value>> | undefined, name: string) {
  return table && Object.hasOwn(table, name) ? table[name] : undefined;
}
