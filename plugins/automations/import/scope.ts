import type { Entities, Match } from "./entities.ts";
import { Tagged } from "./read-yaml.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** A part that has no counterpart here; the message says why. */
export class Unmappable extends Error {}

/** One thing that was not mapped. */
export interface Reason {
  /** Such as `action 3, then 1`. */
  readonly place: string;
  readonly detail: string;
  /** The entities for which no device was found, if these are the reason. */
  readonly entities?: readonly string[];
}

/** Parts of one automation that may be visited, also through scripts that it calls. */
const MOST_PARTS = 500;

/** The conversion of one automation: its reasons, its notes, and the trigger for which it is converted. */
export class Scope {
  readonly entities: Entities;
  readonly reasons: Reason[] = [];
  readonly notes = new Set<string>();
  /** The scripts and automations of the same import by their ids such as `script.evening`, for calls of them. */
  readonly scripts: ReadonlyMap<string, unknown>;
  /** The names of scripts that are being inlined. */
  readonly calls: string[] = [];
  /** The id of the trigger; `undefined` if no condition asks for it. */
  readonly triggerId: string | undefined;
  #missing = new Set<string>();
  #parts = 0;

  constructor(entities: Entities, scripts: ReadonlyMap<string, unknown>, triggerId?: string) {
    this.entities = entities;
    this.scripts = scripts;
    this.triggerId = triggerId;
  }

  /** The device of an entity. Without one, the part that asked for it is refused after it was checked. */
  match(entity: string): Match {
    const match = this.entities.match(entity);
    if (!match.isFound) this.#missing.add(entity);
    return match;
  }

  note(sentence: string): void {
    this.notes.add(sentence);
  }

  /** The parts that a function makes; none, and a reason, if it cannot. */
  attempt<T>(place: string, make: () => readonly T[]): readonly T[] {
    if (++this.#parts > MOST_PARTS) {
      if (this.#parts === MOST_PARTS + 1)
        this.reasons.push({ place, detail: "is too large from here" });
      return [];
    }
    const outer = this.#missing;
    this.#missing = new Set();
    try {
      const made = make();
      const missing = [...this.#missing];
      if (missing.length === 0) return made;
      const detail = `there is no device for ${missing.join(", ")}`;
      this.reasons.push({ place, detail, entities: missing });
    } catch (error) {
      if (!(error instanceof Unmappable)) throw error;
      this.reasons.push({ place, detail: error.message });
    } finally {
      this.#missing = outer;
    }
    return [];
  }
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Tagged);

/** The fields of a part. @throws Unmappable if it is something else */
export function fieldsOf(value: unknown): Fields {
  if (isFields(value)) return value;
  if (value instanceof Tagged)
    throw new Unmappable(`${value.tag} cannot be read outside Home Assistant`);
  if (typeof value === "string" && isTemplate(value))
    throw new Unmappable("templates are not supported");
  throw new Unmappable("is not a map of fields");
}

/** A value as a list: several, one or none. */
export function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

/** True for a text with a template, and for a value with one in it. */
export function isTemplate(value: unknown, depth = 0): boolean {
  if (typeof value === "string") return /\{\{|\{%|\{#/.test(value);
  if (depth > 10 || typeof value !== "object" || value === null) return false;
  return Object.values(value).some((each) => isTemplate(each, depth + 1));
}

/** A text; numbers and yes or no become text as in Home Assistant. @throws Unmappable for a template and other values */
export function textOf(value: unknown, name: string): string {
  if (value instanceof Tagged)
    throw new Unmappable(`${value.tag} cannot be read outside Home Assistant`);
  if (isTemplate(value)) throw new Unmappable(`"${name}" is a template, which is not supported`);
  if (typeof value === "string") return value.trim();
  if (typeof value === "number") return String(value);
  if (typeof value === "boolean") return value ? "on" : "off";
  throw new Unmappable(`"${name}" is not a text`);
}

/** A number, also one in a text. @throws Unmappable */
export function numberOf(value: unknown, name: string): number {
  const text = textOf(value, name).replace(/%$/, "");
  const number = Number(text);
  if (text !== "" && Number.isFinite(number)) return number;
  throw new Unmappable(`"${name}" is not a number`);
}

/** Refuses fields that change the meaning of a part and have no counterpart. @throws Unmappable */
export function refuseFields(fields: Fields, names: readonly string[]): void {
  const found = names.find((name) => fields[name] !== undefined && fields[name] !== null);
  if (found !== undefined) throw new Unmappable(`"${found}" has no counterpart`);
}

/** True for what Home Assistant reads as no: `enabled: false`, `initial_state: off`. */
export const isNo = (value: unknown): boolean =>
  value === false || (typeof value === "string" && /^(false|no|off)$/i.test(value));

/** A time such as `7:30` or `07:30:00` as `07:30` or `07:30:15`. @throws Unmappable */
export function clockOf(value: unknown, name: string): string {
  const text = textOf(value, name);
  if (/^[a-z_]+\.[a-z0-9_]+$/.test(text)) {
    throw new Unmappable(`"${name}" is the time in ${text}; only fixed times are supported`);
  }
  const [, hours, minutes, seconds = "00"] = /^(\d{1,2}):(\d\d)(?::(\d\d))?$/.exec(text) ?? [];
  if (hours === undefined || Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) {
    throw new Unmappable(`"${name}" is not a time of day: ${text.slice(0, 50)}`);
  }
  const clock = `${hours.padStart(2, "0")}:${minutes}`;
  return seconds === "00" ? clock : `${clock}:${seconds}`;
}

const UNITS_MS: Readonly<Record<string, number>> = {
  days: 86_400_000,
  hours: 3_600_000,
  minutes: 60_000,
  seconds: 1_000,
  milliseconds: 1,
};

/** A duration or offset in milliseconds: `00:05:00`, `-00:30`, seconds, or `{minutes: 5}`. @throws Unmappable */
export function durationOf(value: unknown, name: string): number {
  if (isFields(value)) {
    const parts = Object.entries(value).map(([unit, count]) => {
      const factor = Object.hasOwn(UNITS_MS, unit) ? UNITS_MS[unit] : undefined;
      if (factor === undefined) throw new Unmappable(`"${name}" has the unknown unit ${unit}`);
      return numberOf(count, name) * factor;
    });
    return Math.round(parts.reduce((sum, each) => sum + each, 0));
  }
  const text = textOf(value, name);
  const parts = /^([+-]?)(\d{1,3}):(\d\d)(?::(\d\d)(?:\.\d+)?)?$/.exec(text);
  if (!parts) return Math.round(numberOf(text, name) * 1_000);
  const [, sign, hours, minutes, seconds = 0] = parts;
  const total = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
  return (sign === "-" ? -total : total) * 1_000;
}
