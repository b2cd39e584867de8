import type { DeviceKind } from "../device.ts";
import type { DeviceFunction } from "./device-function.ts";

/** The functions of one physical device, as plain data. */
export type Composition =
  /** Its functions stay devices, because an earlier version has published them so. */
  | { readonly isSeparate: true }
  | {
      /** The native id of the device, which is the id of a function. */
      readonly id: string;
      /** True if that function is the device itself; otherwise all functions are parts. */
      readonly hasMain: boolean;
      /** The short names of functions, by their ids: ids of parts, and beginnings of the names of extras. */
      readonly names: Readonly<Record<string, string>>;
    };

/** The compositions by the ids of physical devices. Bridges store them, and hand them over. */
export type StoredCompositions = Readonly<Record<string, Composition>>;

/** Beyond this, those of devices that are gone are forgotten. */
const MOST_COMPOSITIONS = 20_000;
/** With a number behind it, it is an id of 40 characters. */
const LONGEST_NAME = 34;
/** Names that have another meaning in commands. */
const RESERVED = new Set(["parts", "extra"]);
/** The kinds that decide what a device with several functions is, the most important first. */
const IMPORTANCE: readonly DeviceKind[] = [
  ...(["air-conditioner", "thermostat", "water-heater", "humidifier", "dehumidifier"] as const),
  ...(["alarm", "vacuum", "lawn-mower", "media-player", "lock", "cover", "valve"] as const),
  ...(["fan", "siren", "light", "plug", "switch", "tracker", "weather-station"] as const),
  ...(["doorbell", "button", "sensor", "binary-sensor", "camera", "update"] as const),
];

/** The place of a kind among those that decide what a device with several functions is. */
export function importanceOf(kind: DeviceKind): number {
  const place = IMPORTANCE.indexOf(kind);
  return place < 0 ? IMPORTANCE.length : place;
}

/** Kinds of which several alike are all parts, such as the gangs of a switch: their tile has a button for each. */
const GANGS: ReadonlySet<DeviceKind> = new Set(["switch", "plug", "light"]);

/** Remembers how physical devices are made up, so that no device changes its id and no part its name. */
export class Compositions {
  readonly #all: Map<string, Composition>;
  readonly #published: ReadonlySet<string>;
  /** Grows with each new decision. */
  revision = 0;

  /** @param published ids of functions that were published as devices before compositions were stored */
  constructor(stored: StoredCompositions, published: Iterable<string>) {
    this.#all = new Map(Object.entries(stored));
    this.#published = new Set(published);
  }

  get stored(): StoredCompositions {
    return Object.fromEntries(this.#all);
  }

  /** See `JoinedDevices.mainOf`. */
  mainOf(group: string, functionIds: readonly string[]): string | undefined {
    const known = this.#all.get(group);
    if (known) return "isSeparate" in known ? undefined : known.id;
    const published = functionIds.filter((id) => this.#published.has(id));
    return published.length > 1 ? undefined : (published[0] ?? functionIds[0]);
  }

  /** The composition of a physical device out of its functions, which come in the order of their importance. */
  of(group: string, functions: readonly DeviceFunction[]): Composition {
    const known = this.#all.get(group);
    const composition = known ? named(known, functions) : this.#firstOf(functions);
    if (composition !== known) {
      this.#all.set(group, composition);
      this.revision++;
    }
    return composition;
  }

  /** Forgets physical devices that are gone, if there are too many. */
  keep(groups: ReadonlySet<string>): void {
    if (this.#all.size <= MOST_COMPOSITIONS) return;
    for (const group of this.#all.keys()) if (!groups.has(group)) this.#all.delete(group);
    this.revision++;
  }

  #firstOf(functions: readonly DeviceFunction[]): Composition {
    const published = functions.filter(({ device }) => this.#published.has(device.nativeId));
    if (published.length > 1) return { isSeparate: true };
    const main = published[0] ?? mostImportant(functions);
    const kind = main?.device.kind;
    const alike = functions.filter(({ device, isReading }) => !isReading && device.kind === kind);
    const isGang = alike.length > 1 && kind !== undefined && GANGS.has(kind);
    const hasMain = published.length > 0 || !isGang;
    return named({ id: main?.device.nativeId ?? "", hasMain, names: {} }, functions);
  }
}

/** The first function that is not a reading, or else the first one. */
export const mostImportant = (functions: readonly DeviceFunction[]): DeviceFunction | undefined =>
  functions.find(({ isReading }) => !isReading) ?? functions[0];

/** The composition with a name for each function; the same one if all have theirs. */
function named(composition: Composition, functions: readonly DeviceFunction[]): Composition {
  if ("isSeparate" in composition) return composition;
  const unnamed = functions.filter(
    ({ device }) => !Object.hasOwn(composition.names, device.nativeId),
  );
  if (unnamed.length === 0) return composition;
  const names = new Map(Object.entries(composition.names));
  const taken = new Set([...names.values(), ...RESERVED]);
  for (const { device, partName } of unnamed) {
    const name = freeName(shortName(partName ?? "", device.kind), taken);
    taken.add(name);
    names.set(device.nativeId, name);
  }
  return { ...composition, names: Object.fromEntries(names) };
}

/** A text in the letters that the id of a part may have. */
function shortName(text: string, kind: DeviceKind): string {
  const words = text
    .slice(0, 200)
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
  if (!/^[a-z]/.test(words[0] ?? "")) words.unshift(kind);
  return words.join("-").slice(0, LONGEST_NAME).replace(/-$/, "");
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let count = 2; taken.has(free); count++) free = `${name}-${count}`;
  return free;
}

/** True if a value from storage has the shape of compositions. */
export function areCompositions(value: unknown): value is StoredCompositions {
  return isRecord(value) && Object.values(value).every(isComposition);
}

function isComposition(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { isSeparate, id, hasMain, names } = value;
  if (isSeparate === true) return true;
  if (typeof id !== "string" || typeof hasMain !== "boolean" || !isRecord(names)) return false;
  return Object.values(names).every((name) => typeof name === "string");
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
