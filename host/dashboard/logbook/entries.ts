import type { Cause } from "@mantel/plugin-sdk/cause";

/** One change in the home. */
export interface LogbookEntry {
  /** Epoch milliseconds. */
  readonly at: number;
  /** `state`, `event`, `availability`, `added`, `removed`, `renamed`, `failed`, `scene` or `record`. */
  readonly kind: string;
  /** The id of the device. */
  readonly device: string | undefined;
  readonly deviceName: string | undefined;
  /** The field that changed, as in automations: `on`, `parts/light/on`. Of other kinds a word, such as an event. */
  readonly what: string;
  readonly from: unknown;
  readonly to: unknown;
  readonly cause: Cause | undefined;
}

/** A page of the logbook. */
export interface LogbookPage {
  readonly entries: readonly LogbookEntry[];
  /** Asks for the next page; absent on the last one. */
  readonly next: string | undefined;
}

/** Changes with one cause within a short time. */
export interface LogbookGroup {
  readonly at: number;
  readonly cause: Cause | undefined;
  readonly effects: readonly LogbookEffect[];
}

/** The changes of one device in a group. */
export interface LogbookEffect {
  readonly device: string | undefined;
  /** The oldest first. */
  readonly entries: readonly LogbookEntry[];
}

/** Longest pause between two changes of one group. */
const PAUSE_MS = 5_000;

type Fields = Readonly<Record<string, unknown>>;

/** The page in an answer. Invalid entries are left out. */
export function pageIn(answer: unknown): LogbookPage {
  if (!isRecord(answer)) return { entries: [], next: undefined };
  const { entries, next } = answer;
  const found = Array.isArray(entries) ? (entries as readonly unknown[]) : [];
  return {
    entries: found.filter(isRecord).flatMap(entryIn),
    next: typeof next === "string" && next !== "" ? next : undefined,
  };
}

function entryIn(entry: Fields): LogbookEntry[] {
  const { at, kind = "state", device, deviceName, what, from, to, cause } = entry;
  const instant = typeof at === "string" ? Date.parse(at) : Number(at);
  if (Number.isNaN(instant)) return [];
  return [
    {
      at: instant,
      kind: String(kind),
      device: typeof device === "string" ? device : undefined,
      deviceName: typeof deviceName === "string" ? deviceName : undefined,
      what: kind === "state" ? fieldKey(String(what)) : String(what),
      from,
      to,
      cause: causeIn(cause),
    },
  ];
}

/** The name of a field in automations: `parts/light/on` for `light.on`. */
function fieldKey(field: string): string {
  const [first = "", name] = field.split(".");
  if (name === undefined) return field;
  return first === "extra" ? `extra/${name}` : `parts/${first}/${name}`;
}

function causeIn(value: unknown): Cause | undefined {
  if (!isRecord(value)) return undefined;
  const { kind, id, name, parent } = value;
  if (typeof kind !== "string" || typeof id !== "string") return undefined;
  const link = { kind: kind as Cause["kind"], id, name: typeof name === "string" ? name : id };
  const above = causeIn(parent);
  return above ? { ...link, parent: above } : link;
}

/** The entries by what caused them, the newest group first. */
export function groupsOf(entries: readonly LogbookEntry[]): readonly LogbookGroup[] {
  const groups: LogbookEntry[][] = [];
  for (const entry of entries) {
    const group = groups.at(-1);
    const before = group?.at(-1);
    const isSame =
      before !== undefined &&
      keyOf(before) === keyOf(entry) &&
      Math.abs(before.at - entry.at) <= PAUSE_MS;
    if (group && isSame) group.push(entry);
    else groups.push([entry]);
  }
  return groups.map((group) => ({
    at: Math.min(...group.map(({ at }) => at)),
    cause: group[0]?.cause,
    effects: effectsOf(group),
  }));
}

/** Changes that a device made by itself are grouped by device. */
function keyOf({ cause }: LogbookEntry): string {
  return JSON.stringify(chainOf(cause).map(({ kind, id }) => [kind, id]));
}

function effectsOf(group: readonly LogbookEntry[]): LogbookEffect[] {
  const byDevice = new Map<string | undefined, LogbookEntry[]>();
  for (const entry of group.toReversed()) {
    const { device } = entry;
    byDevice.set(device, [...(byDevice.get(device) ?? []), entry]);
  }
  return [...byDevice].map(([device, entries]) => ({ device, entries }));
}

/** The cause, the cause of the cause, and so on. */
export function chainOf(cause: Cause | undefined): readonly Cause[] {
  return cause ? [cause, ...chainOf(cause.parent)] : [];
}

function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
