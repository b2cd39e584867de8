import type { Capability, Device, StateValue } from "@mantel/plugin-sdk/device";
import type { I18n } from "@mantel/plugin-sdk/i18n";
import { readingText } from "@mantel/plugin-sdk/ui/reading";
import { capabilityText, valueText } from "../settings/device-words.ts";
import { factValue } from "./fact-words.ts";

/** The days of the week as documents name them. */
export const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/** The sun at the home. */
export interface SunNow {
  readonly isUp: boolean;
}

/** The parts of the home that sentences about it show. Read them while drawing. */
export interface HomeView {
  device(id: string): Device | undefined;
  /** All devices that are not hidden. */
  devices(): readonly Device[];
  /** The scenes by id, with their names. */
  scenes(): ReadonlyMap<string, string>;
  /** The calendars by id, with their names. */
  calendars(): ReadonlyMap<string, string>;
  /** `undefined` if the place of the home is not set. */
  sun(): SunNow | undefined;
  /** The time of day such as `07:30` in the home's time zone, and the day of the week. */
  clock(): { readonly time: string; readonly day: Weekday };
  readonly fmt: I18n["fmt"];
}

/** One field of a device or of a part of it. */
export interface DeviceField {
  /** The name in documents: `power`, `parts/light/power` of a part, `extra/childLock` of an extra. */
  readonly key: string;
  /** The name without its part. */
  readonly name: string;
  readonly label: string;
  readonly capability: Capability;
  readonly value: StateValue | undefined;
}

/** The fields of a device and its parts, without commands that have no state. */
export function statefulFields(device: Device): readonly DeviceField[] {
  return allFields(device).filter(({ capability }) => capability.type !== "command");
}

/** The fields of a device and its parts that can be commanded. */
export function settableFields(device: Device): readonly DeviceField[] {
  return allFields(device).filter(
    ({ capability, name }) => capability.readOnly !== true && name !== "code",
  );
}

/** One field by its name in documents. */
export function fieldOf(device: Device | undefined, key: string): DeviceField | undefined {
  return device && allFields(device).find((field) => field.key === key);
}

function allFields(device: Device): readonly DeviceField[] {
  const own = fieldsIn(device, "", "");
  const ofParts = (device.parts ?? []).flatMap((part) =>
    fieldsIn(part, `parts/${part.id}/`, `${part.name}: `),
  );
  const main = Object.entries(device.extra?.capabilities ?? {}).filter(
    ([, { group }]) => group === "main",
  );
  const extra = { capabilities: Object.fromEntries(main), state: device.extra?.state ?? {} };
  return [...own, ...ofParts, ...fieldsIn(extra, "extra/", "")];
}

function fieldsIn(
  { capabilities, state }: Pick<Device, "capabilities" | "state">,
  prefix: string,
  label: string,
): DeviceField[] {
  return Object.entries(capabilities).map(([name, capability]) => ({
    key: prefix + name,
    name,
    label: label + capabilityText(name),
    capability,
    value: state[name],
  }));
}

/** A value of a field in words, such as "open" or "21.4°". */
export function valueWords(
  field: DeviceField | undefined,
  value: unknown,
  home: Pick<HomeView, "fmt">,
): string {
  const capability = field?.capability;
  if (typeof value === "boolean") return factValue(field?.name ?? "", value);
  if (typeof value === "number") return numberWords(value, capability, home);
  if (typeof value === "string") {
    return capability?.type === "choice" ? valueText(value) : `“${value}”`;
  }
  if (isColor(value)) return `${Math.round(value.hue)}°, ${Math.round(value.saturation)} %`;
  return "–";
}

function numberWords(
  value: number,
  capability: Capability | undefined,
  { fmt }: Pick<HomeView, "fmt">,
): string {
  if (capability?.type !== "number") return fmt.number(value);
  const { unit, step } = capability;
  const known = { ...(unit !== undefined && { unit }), ...(step !== undefined && { step }) };
  return readingText(value, known, { fmt });
}

function isColor(value: unknown): value is { hue: number; saturation: number } {
  return typeof value === "object" && value !== null && "hue" in value && "saturation" in value;
}

/** The names of those at home and away, by their trackers. */
export function peopleOf(home: HomeView): { readonly here: string[]; readonly away: string[] } {
  const trackers = home.devices().filter(({ kind }) => kind === "tracker");
  const named = (isHome: boolean): string[] =>
    trackers.filter(({ state }) => state["home"] === isHome).map(({ name }) => name);
  return { here: named(true), away: named(false) };
}

/** A span such as `5 min` or `1 h 30 min`. The units are the same in all languages of the dashboard. */
export function spanText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const parts = [
    [Math.floor(seconds / 3600), "h"],
    [Math.floor((seconds % 3600) / 60), "min"],
    [seconds % 60, "s"],
  ] as const;
  const shown = parts.filter(([count]) => count > 0).map(([count, unit]) => `${count} ${unit}`);
  return shown.length === 0 ? "0 s" : shown.join(" ");
}

/** Names as "A, B and C". */
export function joined(names: readonly string[], locale: string): string {
  return new Intl.ListFormat(locale, { type: "conjunction" }).format(names);
}
