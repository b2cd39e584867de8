import type {
  Capabilities,
  Capability,
  DeviceCommand,
  DeviceDescription,
  DeviceKind,
  DeviceState,
  DeviceUpdate,
  ExtraCapability,
} from "../device.ts";
import { canonicalCapability, faultsOfVocabulary, KINDS, READINGS } from "../vocabulary/index.ts";
import type { DeviceFunction } from "./device-function.ts";

/** The host's limits: parts, capabilities of the device itself or of one part, and all together. */
const MOST_PARTS = 50;
const MOST_IN_SECTION = 100;
const MOST_IN_DEVICE = 200;

/** The keys of sections that are not parts. */
export const OWN = "";
export const EXTRA = "extra";

/** Names that only say what an unnamed function has. */
const UNNAMED = new Set(["value", "active", "press", "on"]);

/** The place of a capability in its function. */
interface Origin {
  /** The id of the function. */
  readonly of: string;
  /** `OWN` or `EXTRA`. */
  readonly sectionThere: string;
  readonly nameThere: string;
}

/** A capability of the device. */
interface Field extends Origin {
  /** `OWN`, `EXTRA`, or the id of a part. */
  readonly section: string;
  readonly name: string;
  readonly capability: Capability | ExtraCapability;
}

type NewField = Omit<Field, keyof Origin>;

interface Part {
  readonly id: string;
  readonly kind: DeviceKind;
  readonly name: string;
}

/** Changed or present values of a function. */
export type FunctionValues = Pick<DeviceUpdate, "state" | "extra">;

/** The share of a command that is for one function. */
export interface FunctionCommand {
  /** The id of the function. */
  readonly nativeId: string;
  readonly command: DeviceCommand;
  readonly extra: DeviceCommand;
}

/** A physical device that is joined from its functions. */
export class JoinedDevice {
  readonly nativeId: string;
  /** The function that gives it its kind, its place and its maker. */
  readonly #first: DeviceFunction;
  readonly #functions: DeviceFunction[] = [];
  readonly #parts: Part[] = [];
  /** By section and name. */
  readonly #sections = new Map<string, Map<string, Field>>();
  /** By function, and by section and name there. */
  readonly #places = new Map<string, Map<string, Field>>();
  #count = 0;

  constructor(nativeId: string, first: DeviceFunction) {
    this.nativeId = nativeId;
    this.#first = first;
  }

  get functions(): readonly DeviceFunction[] {
    return this.#functions;
  }

  /** The id of the function that has its picture; `undefined` if none has one. */
  get pictured(): string | undefined {
    return this.#functions.find(({ device }) => device.image)?.device.nativeId;
  }

  /** Adds the function that the device itself is: all names stay. */
  addMain(of: DeviceFunction): void {
    this.#functions.push(of);
    for (const [name, capability] of entriesOf(of)) {
      this.#put(of, [OWN, name], { section: OWN, name, capability });
    }
    for (const [name, capability] of extrasOf(of)) {
      this.#put(of, [EXTRA, name], { section: EXTRA, name, capability });
    }
  }

  /** Adds a further function. Returns false if it has to stay a device of its own. */
  add(of: DeviceFunction, shortName: string): boolean {
    // a device has one picture
    if (of.device.image && this.pictured !== undefined) return false;
    const isPart = !of.isReading && entriesOf(of).length > 0;
    if (!this.#hasRoom(of, isPart)) return false;
    this.#functions.push(of);
    if (isPart) {
      const { kind } = of.device;
      this.#parts.push({ id: shortName, kind, name: of.partName ?? kind });
    }
    const section = isPart ? shortName : OWN;
    for (const entry of entriesOf(of)) {
      const place = this.#placeIn(section, of, entry);
      this.#put(of, [OWN, entry[0]], place ?? this.#extra(of, shortName, entry));
    }
    for (const entry of extrasOf(of)) {
      this.#put(of, [EXTRA, entry[0]], this.#extra(of, shortName, entry));
    }
    return true;
  }

  /** The place of a capability under its own name; `undefined` if it has to be an extra. */
  #placeIn(
    section: string,
    { device, hasReadings }: DeviceFunction,
    [name, capability]: readonly [string, Capability],
  ): NewField | undefined {
    const isOfKind = Object.hasOwn(KINDS[device.kind].capabilities, name);
    const isPlain =
      section === OWN || (hasReadings && !isOfKind)
        ? this.#isFreeReading(name, capability)
        : isCanonical(device.kind, name, capability);
    if (!isPlain) return undefined;
    return { section: hasReadings && !isOfKind ? OWN : section, name, capability };
  }

  /** The device as the host takes it, with the present values of its functions. */
  describe(
    valuesOf: (functionId: string) => FunctionValues,
    available: boolean,
  ): DeviceDescription {
    const { device, groupName } = this.#first;
    const { assumed: _assumed, image: _image, live: _live, extra: _extra, ...first } = device;
    const live = this.#functions.find((each) => each.device.image)?.device.live;
    const ids = this.#functions.map((each) => each.device.nativeId);
    const values = this.#placed(ids, valuesOf);
    const room = this.#functions.map((each) => each.device.room).find((each) => each !== undefined);
    const extra = this.#capabilitiesIn(EXTRA) as Readonly<Record<string, ExtraCapability>>;
    return {
      ...first,
      nativeId: this.nativeId,
      name: groupName ?? first.name,
      ...(room === undefined ? {} : { room }),
      available,
      ...(this.#isAssumed ? { assumed: true } : {}),
      ...(this.pictured === undefined ? {} : { image: true }),
      ...(live === undefined ? {} : { live }),
      capabilities: this.#capabilitiesIn(OWN),
      state: values.get(OWN) ?? {},
      ...(this.#parts.length > 0 && {
        parts: this.#parts.map((part) => ({
          ...part,
          capabilities: this.#capabilitiesIn(part.id),
          state: values.get(part.id) ?? {},
        })),
      }),
      ...(Object.keys(extra).length > 0 && {
        extra: { capabilities: extra, state: values.get(EXTRA) ?? {} },
      }),
    };
  }

  /** The values of some functions as values of the device. */
  updateOf(
    functionIds: readonly string[],
    valuesOf: (functionId: string) => FunctionValues,
  ): DeviceUpdate {
    const {
      [OWN]: state,
      [EXTRA]: extra,
      ...parts
    } = Object.fromEntries(this.#placed(functionIds, valuesOf));
    return {
      nativeId: this.nativeId,
      ...(state && { state }),
      ...(extra && { extra }),
      ...(Object.keys(parts).length > 0 && { parts }),
    };
  }

  /** A command, by the functions that carry it out. */
  sharesOf(command: ReadonlyMap<string, DeviceCommand>): FunctionCommand[] {
    const shares = new Map<string, { command: [string, never][]; extra: [string, never][] }>();
    for (const [section, values] of command) {
      for (const [name, value] of Object.entries(values)) {
        const field = this.#sections.get(section)?.get(name);
        if (!field) continue;
        const share = shares.get(field.of) ?? { command: [], extra: [] };
        shares.set(field.of, share);
        share[field.sectionThere === OWN ? "command" : "extra"].push([
          field.nameThere,
          value as never,
        ]);
      }
    }
    return [...shares].map(([nativeId, { command: own, extra }]) => ({
      nativeId,
      command: Object.fromEntries(own),
      extra: Object.fromEntries(extra),
    }));
  }

  /** A command to one function, by the sections of a command to the device. */
  commandOf(functionId: string, command: DeviceCommand): ReadonlyMap<string, DeviceCommand> {
    const placed = this.#placed([functionId], () => ({ state: command }));
    return placed as ReadonlyMap<string, DeviceCommand>;
  }

  get #isAssumed(): boolean {
    const settable = this.#functions.filter(({ isReading }) => !isReading);
    return settable.length > 0 && settable.every(({ device }) => device.assumed);
  }

  #hasRoom(of: DeviceFunction, isPart: boolean): boolean {
    const [own, extra] = [entriesOf(of).length, extrasOf(of).length];
    if (this.#count + own + extra > MOST_IN_DEVICE) return false;
    if (isPart) return this.#parts.length < MOST_PARTS && own <= MOST_IN_SECTION;
    const readings = entriesOf(of).filter(([name, each]) => this.#isFreeReading(name, each));
    return (this.#sections.get(OWN)?.size ?? 0) + readings.length <= MOST_IN_SECTION;
  }

  #isFreeReading(name: string, capability: Capability): boolean {
    if (this.#sections.get(OWN)?.has(name) || !Object.hasOwn(READINGS, name)) return false;
    return isCanonical(this.#first.device.kind, name, capability);
  }

  /** The place of a capability among the extras, under a name that tells which function has it. */
  #extra(
    { isReading, hasReadings }: DeviceFunction,
    shortName: string,
    [name, capability]: readonly [string, Capability | ExtraCapability],
  ): NewField {
    const isUnnamed = isReading === true && UNNAMED.has(name);
    const whole = hasReadings ? name : camelCase(isUnnamed ? shortName : `${shortName}-${name}`);
    const isTaken = (each: string) =>
      this.#sections.get(EXTRA)?.has(each) === true ||
      canonicalCapability(this.#first.device.kind, each) !== undefined;
    let free = whole;
    for (let count = 2; isTaken(free); count++) free = `${whole}${count}`;
    return { section: EXTRA, name: free, capability: { group: "main", ...capability } };
  }

  #put(of: DeviceFunction, [sectionThere, nameThere]: readonly [string, string], field: NewField) {
    const { nativeId } = of.device;
    const whole: Field = { ...field, of: nativeId, sectionThere, nameThere };
    grouped(this.#sections, field.section).set(field.name, whole);
    grouped(this.#places, nativeId).set(`${sectionThere} ${nameThere}`, whole);
    this.#count++;
  }

  #capabilitiesIn(section: string): Capabilities {
    const fields = this.#sections.get(section) ?? [];
    return Object.fromEntries([...fields].map(([name, { capability }]) => [name, capability]));
  }

  /** Values of functions, by section. */
  #placed(
    functionIds: readonly string[],
    valuesOf: (functionId: string) => FunctionValues,
  ): Map<string, DeviceState> {
    const placed = new Map<string, Record<string, DeviceState[string]>>();
    for (const id of functionIds) {
      const { state = {}, extra = {} } = valuesOf(id);
      for (const [section, values] of [
        [OWN, state],
        [EXTRA, extra],
      ] as const) {
        for (const [name, value] of Object.entries(values)) {
          const place = this.#places.get(id)?.get(`${section} ${name}`);
          if (!place) continue;
          const ofSection = placed.get(place.section) ?? {};
          placed.set(place.section, ofSection);
          ofSection[place.name] = value;
        }
      }
    }
    return placed;
  }
}

const entriesOf = ({ device }: DeviceFunction) => Object.entries(device.capabilities);
const extrasOf = ({ device }: DeviceFunction) => Object.entries(device.extra?.capabilities ?? {});

function isCanonical(kind: DeviceKind, name: string, capability: Capability): boolean {
  const isKnown = canonicalCapability(kind, name) !== undefined;
  return isKnown && faultsOfVocabulary(kind, { [name]: capability }).length === 0;
}

function grouped<K, V>(groups: Map<string, Map<K, V>>, key: string): Map<K, V> {
  const known = groups.get(key) ?? new Map<K, V>();
  groups.set(key, known);
  return known;
}

/** `relay-2-childLock` as `relay2ChildLock`. */
function camelCase(text: string): string {
  const joined = text.replaceAll(/-([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  return joined.slice(0, 60);
}
