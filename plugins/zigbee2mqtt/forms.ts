import { type Capability, toCanonicalUnit } from "@mantel/plugin-sdk";
import { ACCESS, type Expose } from "./exposes.ts";
import type { Form } from "./feature.ts";
import { listForm } from "./lists.ts";
import { TEXT, toText } from "./texts.ts";

/** A value as its definition describes it. */
export function formOf(expose: Expose): Form {
  switch (expose.type) {
    case "binary":
      return binary(expose);
    case "numeric":
      return numeric(expose);
    case "enum":
      return choice(expose);
    case "list":
      return listForm(expose);
    default:
      return TEXT;
  }
}

export const isSettable = ({ access }: Expose): boolean => (access & ACCESS.settable) !== 0;
export const isTold = ({ access }: Expose): boolean => (access & ACCESS.told) !== 0;

function binary({ on = true, off = false }: Expose): Form {
  return {
    capability: { type: "boolean" },
    read: (raw) => (raw === on ? true : raw === off ? false : null),
    write: (value) => (value === true ? on : off),
  };
}

/** A choice of the device's own words. A single word that is never reported is a command. */
function choice(expose: Expose): Form {
  const { values } = expose;
  const [only = "", another] = values;
  if (values.length === 0) return TEXT;
  if (another === undefined && !isTold(expose)) return commandOf(only);
  return {
    capability: { type: "choice", values: [...values] },
    read: (raw) => values.find((value) => value === String(raw)) ?? null,
    write: (value) => value,
    confirms: (raw, written) => toText(raw) === written,
  };
}

/** A choice under other words: those of `words`, by the device's own, and the rest in kebab-case. */
export function renamedChoice({ values }: Expose, words: Readonly<Record<string, string>>): Form {
  const ours = new Map(values.map((value) => [value, wordFor(value, words)]));
  const theirs = new Map([...ours].toReversed().map(([their, our]) => [our, their]));
  return {
    capability: { type: "choice", values: [...theirs.keys()].toReversed() },
    read: (raw) => ours.get(String(raw)) ?? null,
    write: (value) => theirs.get(value as string) ?? value,
    confirms: (raw, written) => toText(raw) === written,
  };
}

function wordFor(value: string, words: Readonly<Record<string, string>>): string {
  return Object.hasOwn(words, value) ? (words[value] ?? value) : value.replaceAll("_", "-");
}

/** Something that is done when `value` is sent. */
export const commandOf = (value: unknown): Form => ({
  capability: { type: "command" },
  read: () => null,
  write: () => value,
});

/** A number in the canonical unit. One with a unit that has no conversion has no unit. */
function numeric(expose: Expose): Form {
  const { step = 0, unit: theirs } = expose;
  const { unit, toOurs, toTheirs } = toCanonicalUnit(typeof theirs === "string" ? theirs : "");
  const { min, max } = boundsOf(expose);
  const ourStep = Math.abs(toOurs(step) - toOurs(0));
  const capability: Capability = {
    type: "number",
    ...(min === undefined ? {} : { min: toOurs(min) }),
    ...(max === undefined ? {} : { max: toOurs(max) }),
    ...(step > 0 && ourStep > 0 ? { step: ourStep } : {}),
    ...(unit === undefined ? {} : { unit }),
  };
  return {
    capability,
    read: (raw) => (isWithin(raw, min ?? -Infinity, max ?? Infinity) ? toOurs(raw) : null),
    write: (value) =>
      Math.min(max ?? Infinity, Math.max(min ?? -Infinity, toTheirs(Number(value)))),
    confirms: (raw, written) => Math.abs(Number(raw) - Number(written)) <= step / 2 + 1e-6,
  };
}

/**
 * Bounds only for settable values: a read-only value may be outside the range of its definition.
 */
function boundsOf({ access, min, max }: Expose): Pick<Expose, "min" | "max"> {
  const isBound = (access & ACCESS.settable) !== 0 && (min ?? -Infinity) <= (max ?? Infinity);
  return isBound ? { min, max } : { min: undefined, max: undefined };
}

export function isWithin(raw: unknown, min: number, max: number): raw is number {
  return typeof raw === "number" && Number.isFinite(raw) && raw >= min && raw <= max;
}

/** A form that is only reported. */
export function readOnly(form: Form): Form {
  const { write: _, confirms: _confirms, ...reported } = form;
  return { ...reported, capability: { ...form.capability, readOnly: true } };
}
