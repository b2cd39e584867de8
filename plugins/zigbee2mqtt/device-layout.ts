import type { Capability, DeviceKind } from "@mantel/plugin-sdk";
import { canonicalCapability, faultsOfVocabulary } from "@mantel/plugin-sdk/vocabulary";
import { climateDraft, climateDrafts, kindOfClimate } from "./convert-climate.ts";
import { coverDrafts, movementDraft, positionDraft } from "./convert-cover.ts";
import { fanDrafts } from "./convert-fan.ts";
import { lightDrafts } from "./convert-light.ts";
import { lockDrafts } from "./convert-lock.ts";
import { isSiren, sirenDrafts } from "./convert-siren.ts";
import { type Draft, draftOf, plainDrafts } from "./drafts.ts";
import type { Expose } from "./exposes.ts";
import { groupOf } from "./extra-groups.ts";
import type { Feature } from "./feature.ts";
import { formOf } from "./forms.ts";
import { isSwitched, withFunctions } from "./function-exposes.ts";
import { camelCase, freeName, partIdOf } from "./names.ts";
import { readingDraft } from "./readings.ts";

/** A device has at most this many capabilities with those of its parts and extras, and fewer itself and in each part. */
const MOST_CAPABILITIES = 200;
const MOST_IN_SECTION = 100;
const MOST_PARTS = 50;

/** A further function of a device. */
export interface Part {
  readonly id: string;
  readonly kind: DeviceKind;
  readonly name: string;
}

/** The kind of a device, its parts, and the places of its capabilities. */
export interface DeviceLayout {
  readonly kind: DeviceKind;
  readonly parts: readonly Part[];
  readonly features: readonly Feature[];
  /** The names of capabilities that were left out, because there are too many. */
  readonly leftOut: readonly string[];
}

/** Types of exposes that are a function with a kind of its own. */
const FUNCTIONS = {
  light: { kindOf: (): DeviceKind => "light", drafts: lightDrafts },
  cover: { kindOf: (): DeviceKind => "cover", drafts: coverDrafts },
  climate: { kindOf: kindOfClimate, drafts: climateDrafts },
  lock: { kindOf: (): DeviceKind => "lock", drafts: lockDrafts },
  fan: { kindOf: (): DeviceKind => "fan", drafts: fanDrafts },
  switch: { kindOf: (): DeviceKind => "switch", drafts: switchDrafts },
} as const;

type FunctionType = keyof typeof FUNCTIONS;
type FunctionExpose = Expose & { readonly type: FunctionType };

const isFunction = (expose: Expose): expose is FunctionExpose =>
  Object.hasOwn(FUNCTIONS, expose.type);

/** The kind of a device, its parts and its capabilities. */
export function layoutOf(listed: readonly Expose[]): DeviceLayout {
  const exposes = withFunctions(listed);
  const layout = new Layout(kindOf(exposes));
  const functions = exposes.filter(isFunction);
  const main = mainOf(functions, layout.kind);
  for (const each of functions) if (each === main) layout.addFunction(each, true);
  for (const each of functions) if (each !== main) layout.addFunction(each, false);
  for (const each of exposes) if (!isFunction(each)) layout.addOther(each, exposes);
  return layout.finished();
}

function switchDrafts({ features }: Expose): Draft[] {
  return features.flatMap((each) => {
    const isState = each.name === "state" && isSwitched(each.property);
    return isState ? [draftOf(each, formOf(each), { name: "on" })] : plainDrafts(each);
  });
}

/** The function that the device itself is; `undefined` if several are alike, which are its parts. */
function mainOf(functions: readonly FunctionExpose[], kind: DeviceKind): Expose | undefined {
  const alike = functions.filter(
    (each) => kindOfFunction(each, kind) === kind && isSwitching(each),
  );
  const whole = alike.find(({ endpoint }) => endpoint === undefined);
  return whole ?? (alike.length === 1 ? alike[0] : undefined);
}

/** False for a switch of a setting, such as the detection of open windows. */
function isSwitching({ type, features }: Expose): boolean {
  return type !== "switch" || features.some(({ property }) => isSwitched(property));
}

/** The gangs of a plug are plugs, and those of a valve valves. */
function kindOfFunction(expose: FunctionExpose, ofDevice: DeviceKind): DeviceKind {
  const isGang = expose.type === "switch" && (ofDevice === "plug" || ofDevice === "valve");
  return isGang ? ofDevice : FUNCTIONS[expose.type].kindOf(expose);
}

/** Finds places for capabilities, in the order in which they are exposed. */
class Layout {
  readonly kind: DeviceKind;
  readonly #parts = new Map<string, Part>();
  /** Part ids by endpoint. */
  readonly #endpoints = new Map<string, string>();
  readonly #features: Feature[] = [];
  readonly #taken = new Set<string>();
  /** The places in payloads that have a capability, with its type. */
  readonly #known = new Set<string>();
  /** The number of capabilities beside the extras, by part. */
  readonly #counts = new Map<string | undefined, number>();

  constructor(kind: DeviceKind) {
    this.kind = kind;
  }

  /** A function is the device itself, a part of it, or, like the switch of a setting, some extras. */
  addFunction(expose: FunctionExpose, isMain: boolean): void {
    const isPart = !isMain && isSwitching(expose) && !isModeOfFan(expose);
    const drafts = FUNCTIONS[expose.type]
      .drafts(expose)
      .filter((draft) => isMain || draft.capability.type === "command" || !this.#isKnown(draft));
    if (drafts.length === 0) return;
    const part = isPart ? this.#addPart(expose, kindOfFunction(expose, this.kind)) : undefined;
    if (part !== undefined && expose.endpoint !== undefined) {
      this.#endpoints.set(expose.endpoint, part);
    }
    for (const { name, ...draft } of drafts) {
      const hasPlace = name !== undefined && (part !== undefined || !isPart);
      this.#place(hasPlace ? { ...draft, name } : draft, part);
    }
  }

  /** A value beside the functions: a reading, something that belongs to the kind, or an extra. */
  addOther(expose: Expose, exposes: readonly Expose[]): void {
    const part = this.#endpoints.get(expose.endpoint ?? "");
    const ofKind = draftsOfKind(expose, this.#kindOf(part));
    const reading = ofKind ? undefined : readingDraft(expose);
    if (reading) return this.#place(reading, part ?? this.#partOfReading(expose, exposes));
    for (const draft of ofKind ?? plainDrafts(expose)) this.#place(draft, part);
  }

  #kindOf(part: string | undefined): DeviceKind {
    return this.#parts.get(part ?? "")?.kind ?? this.kind;
  }

  /** Several readings of one kind at endpoints without parts are parts themselves. */
  #partOfReading({ name, type, endpoint }: Expose, exposes: readonly Expose[]): string | undefined {
    if (endpoint === undefined) return undefined;
    const isOnly = exposes.filter((each) => each.name === name).length === 1;
    if (isOnly) return undefined;
    const kind = type === "binary" ? "binary-sensor" : "sensor";
    const part = this.#addPart({ endpoint, type: kind }, kind);
    if (part !== undefined) this.#endpoints.set(endpoint, part);
    return part;
  }

  /** The id of a new part; `undefined` if there are too many. */
  #addPart({ endpoint, type }: Pick<Expose, "endpoint" | "type">, kind: DeviceKind) {
    if (this.#parts.size >= MOST_PARTS) return undefined;
    const base =
      endpoint === undefined ? (type === "climate" ? "thermostat" : type) : partIdOf(endpoint);
    const id = freeName(base.slice(0, 36), (name) => this.#parts.has(name));
    const name = (endpoint ?? base).replaceAll(/[_-]+/g, " ").trim() || id;
    this.#parts.set(id, { id, kind, name });
    return id;
  }

  /** Gives a capability its canonical name if it keeps to the vocabulary, and otherwise one among the extras. */
  #place(draft: Draft, part: string | undefined): void {
    const { name, expose: _, ...rest } = draft;
    if (name === undefined && this.#isKnown(draft)) return;
    const kind = this.#kindOf(part);
    const isCanonical =
      name !== undefined &&
      !this.#taken.has(`${part}/${name}`) &&
      (this.#counts.get(part) ?? 0) < MOST_IN_SECTION &&
      isCanonicalFor(kind, name, draft.capability);
    const place = isCanonical
      ? { name, ...(part === undefined ? {} : { part }) }
      : { name: this.#extraName(draft), group: groupOf(draft) };
    this.#taken.add(isCanonical ? `${part}/${name}` : `extra/${place.name}`);
    this.#features.push({ ...rest, ...place, pathInGroup: pathInGroup(draft) });
    this.#known.add(keyOf(draft));
    if (isCanonical) this.#counts.set(part, (this.#counts.get(part) ?? 0) + 1);
  }

  /** True if an earlier expose has the same place in payloads: some definitions repeat one. */
  #isKnown(draft: Draft): boolean {
    return this.#known.has(keyOf(draft));
  }

  /** Its place in payloads as one word, and not a canonical name of the kind: those belong to the device itself. */
  #extraName({ path }: Draft): string {
    const plain = camelCase(path.join(" "));
    const isTaken = canonicalCapability(this.kind, plain) !== undefined;
    const name = isTaken ? camelCase(`${plain} value`) : plain;
    return freeName(name, (each) => this.#taken.has(`extra/${each}`));
  }

  finished(): DeviceLayout {
    const kept = new Set(this.#features.toSorted(byImportance).slice(0, MOST_CAPABILITIES));
    const features = this.#features.filter((each) => kept.has(each));
    const leftOut = this.#features.filter((each) => !kept.has(each)).map(({ name }) => name);
    const isUsed = ({ id }: Part) => features.some(({ part }) => part === id);
    return { kind: this.kind, parts: [...this.#parts.values()].filter(isUsed), features, leftOut };
  }
}

const keyOf = ({ path, capability }: Draft): string => `${capability.type} ${path.join("/")}`;

/** True if a device of this kind may have such a capability under this name. */
function isCanonicalFor(kind: DeviceKind, name: string, capability: Capability): boolean {
  return (
    canonicalCapability(kind, name) !== undefined &&
    faultsOfVocabulary(kind, { [name]: capability }).length === 0
  );
}

/** The capabilities that belong to a kind beside its function; `undefined` for all others. */
function draftsOfKind(expose: Expose, kind: DeviceKind): Draft[] | undefined {
  const { name, type } = expose;
  switch (kind) {
    case "cover": {
      const movement = movementDraft(expose);
      return movement && [movement];
    }
    case "light":
      return name === "effect" && type === "enum"
        ? [draftOf(expose, formOf(expose), { name })]
        : undefined;
    case "thermostat":
    case "air-conditioner":
      return climateDraft(expose);
    case "siren":
      return sirenDrafts(expose);
    case "valve": {
      const position = positionDraft(expose);
      return position && [position];
    }
    default:
      return undefined;
  }
}

/** The modes of a fan without a switch of its own are settings of the device. */
function isModeOfFan({ type, features }: Expose): boolean {
  return type === "fan" && !features.some(({ name }) => name === "state");
}

/** Configuration is left out first, then diagnostics, then other extras. */
function byImportance(one: Feature, other: Feature): number {
  return rankOf(one) - rankOf(other);
}

function rankOf({ group }: Feature): number {
  return group === undefined ? 0 : { main: 1, diagnostic: 2, configuration: 3 }[group];
}

/** A Zigbee group is commanded without the endpoints of its members. */
function pathInGroup({ path, expose: { endpoint } }: Draft): readonly string[] {
  const [first = "", ...rest] = path;
  const suffix = `_${endpoint}`;
  return endpoint !== undefined && first.endsWith(suffix)
    ? [first.slice(0, -suffix.length), ...rest]
    : path;
}

const YES_OR_NO = new Set(
  "contact occupancy presence water_leak smoke gas carbon_monoxide vibration moving sos rain".split(
    " ",
  ),
);
const MEASURED = new Set(["power", "energy", "current"]);
/** Values of a switch that lets water through. */
const OF_VALVE =
  /^(flow|flow_rate|water_consumed|valve_(state|status))$|irrigation|watering_duration/;

/** True for a value that only valves have, and for a switch that opens something. */
function isOfValve({ name, features }: Expose): boolean {
  return (
    OF_VALVE.test(name) ||
    features.some(({ on, property }) => on === "OPEN" || property.startsWith("valve_"))
  );
}

/**
 * The kind of a device with its functions. It is part of the device id, so it must not depend on measured values. No
 * definition describes an alarm system: what they call an alarm is a siren, or tells that something is wrong.
 */
export function kindOf(exposes: readonly Expose[]): DeviceKind {
  const main = exposes.find((each) => isFunction(each) && each.type !== "switch");
  if (main && isFunction(main)) return FUNCTIONS[main.type].kindOf(main);
  const has = (names: ReadonlySet<string>) => exposes.some(({ name }) => names.has(name));
  if (exposes.some(({ type }) => type === "switch")) {
    if (has(MEASURED)) return "plug";
    return exposes.some(isOfValve) ? "valve" : "switch";
  }
  if (exposes.some(isSiren)) return "siren";
  const isAlarm = exposes.some(({ name, type }) => name === "alarm" && type === "binary");
  if (isAlarm || has(YES_OR_NO)) return "binary-sensor";
  return has(new Set(["action"])) ? "button" : "sensor";
}
