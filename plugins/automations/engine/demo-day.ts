import type { StateValue } from "@mantel/plugin-sdk";
import { sunAt } from "@mantel/plugin-sdk/time";
import type { EngineDevice, EngineHome } from "./automation.ts";
import type { Happening } from "./simulate.ts";
import { valueOf } from "./values.ts";
import { type Day, instantOf, plusDays, wallTimeAt, weekdayOf } from "./zone.ts";

const MINUTE_MS = 60_000;
const HOUR = 3_600;
/** Hours of a day at which somebody opens a door or walks by. */
const ACTIVE_HOURS = [6.5, 7, 7.5, 8, 12.5, 17.25, 18, 19, 20, 21, 22, 22.75];
const SAMPLE_MS = 15 * MINUTE_MS;

interface Options {
  readonly fields: readonly { readonly device: EngineDevice; readonly field: string }[];
  readonly from: number;
  readonly to: number;
  readonly timeZone: string;
  readonly coordinates?: EngineHome["coordinates"];
}

/**
 * Makes up ordinary days: doors and motion in the morning and the evening, people who leave on working days,
 * temperatures and light that follow the sun. The same fields always get the same days.
 */
export function demoDays({ fields, ...options }: Options): Happening[] {
  return fields.flatMap(({ device, field }) => {
    const value = valueOf(device, field);
    if (typeof value === "boolean") {
      return device.kind === "tracker" && field === "home"
        ? comings(device.id, options)
        : pulses(device.id, { ...options, field, rest: field === "contact" });
    }
    return typeof value === "number" ? curve(device.id, field, value, options) : [];
  });
}

type Span = Omit<Options, "fields">;

function comings(device: string, span: Span): Happening[] {
  const random = randomOf(device);
  return daysOf(span).flatMap((day) => {
    if (["sat", "sun"].includes(weekdayOf(day))) return [];
    const leaves = instantOf(day, Math.round(8 * HOUR + random() * HOUR), span.timeZone);
    const returns = instantOf(day, Math.round(16.5 * HOUR + random() * 2 * HOUR), span.timeZone);
    return [
      { at: leaves, device, field: "home", value: false },
      { at: returns, device, field: "home", value: true },
    ].filter(({ at }) => at >= span.from && at < span.to);
  });
}

function pulses(device: string, span: Span & { field: string; rest: boolean }): Happening[] {
  const { field, rest } = span;
  const random = randomOf(`${device} ${field}`);
  return daysOf(span).flatMap((day) =>
    ACTIVE_HOURS.flatMap((hour) => {
      const begin = instantOf(day, Math.round((hour + random() / 2) * HOUR), span.timeZone);
      const end = begin + Math.round((1 + random() * 4) * MINUTE_MS);
      const change = (at: number, value: StateValue): Happening => ({ at, device, field, value });
      return [change(begin, !rest), change(end, rest)].filter(
        ({ at }) => at >= span.from && at < span.to,
      );
    }),
  );
}

function curve(device: string, field: string, base: number, span: Span): Happening[] {
  const happenings: Happening[] = [];
  const { coordinates, timeZone } = span;
  for (let at = span.from; at < span.to; at += SAMPLE_MS) {
    const hour = wallTimeAt(at, timeZone).seconds / HOUR;
    const height = coordinates
      ? Math.sin((sunAt(coordinates, new Date(at)).elevation * Math.PI) / 180)
      : -Math.cos((hour / 24) * 2 * Math.PI);
    const value = field === "illuminance" ? Math.max(0, height) * 20_000 : base + height * 2;
    happenings.push({ at, device, field, value: Math.round(value * 10) / 10 });
  }
  return happenings;
}

function daysOf({ from, to, timeZone }: Span): Day[] {
  const days: Day[] = [];
  const last = wallTimeAt(to, timeZone);
  for (let day: Day = wallTimeAt(from, timeZone); ; day = plusDays(day, 1)) {
    days.push(day);
    if (day.year === last.year && day.month === last.month && day.day === last.day) return days;
    if (days.length > 400) return days;
  }
}

/** A generator of numbers from 0 to 1 that depend only on a text (mulberry32). */
function randomOf(text: string): () => number {
  let seed = 0;
  for (const character of text) seed = (Math.imul(seed, 31) + (character.codePointAt(0) ?? 0)) | 0;
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
