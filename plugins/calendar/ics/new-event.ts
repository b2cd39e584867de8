import type { NewCalendarEvent } from "@mantel/plugin-sdk";
import { reasonOf } from "../reason.ts";
import { CalendarObject, Component, folded, valueOf } from "./edit-lines.ts";
import {
  endOf,
  invalid,
  lengthBetween,
  momentOf,
  setTexts,
  timeLine,
  usualLength,
} from "./event-text.ts";
import type { Moment } from "./moment.ts";
import { parseRule } from "./recurrence.ts";
import { compact, zoneLines } from "./zone-text.ts";
import type { Zone } from "./zones.ts";

/** The clock, zone and id source of a change. */
export interface ChangeContext {
  /** The zone of the home. */
  readonly zone: Zone;
  readonly now: number;
  readonly newUid: () => string;
}

/** An object to store beside the changed one. */
export interface NewObject {
  readonly uid: string;
  readonly bytes: Buffer;
}

const PRODUCT = "PRODID:-//Mantel//Calendar//EN";
/** The object of a new event. @throws MantelError `invalid` with the field */
export function newObject(fields: NewCalendarEvent, context: ChangeContext): NewObject {
  const uid = context.newUid();
  const start = momentOf(fields.start, context.zone, "start");
  const end = fields.end && momentOf(fields.end, start.allDay ? context.zone : start.zone, "end");
  const length = end ? lengthBetween(start, end) : usualLength(start);
  const event = new Component(
    ["BEGIN:VEVENT", `UID:${uid}`, "END:VEVENT"].map((line) => folded(line)),
  );
  event.set("DTSTART", timeLine("DTSTART", start));
  event.set("DTEND", timeLine("DTEND", endOf(start, length)));
  if (fields.rrule) setRule(event, fields.rrule, start);
  setTexts(event, fields);
  const stampAt = `${compact(context.now)}Z`;
  event.set("DTSTAMP", `DTSTAMP:${stampAt}`).set("CREATED", `CREATED:${stampAt}`);
  return {
    uid,
    bytes: withZones(emptyObject().with([event]), [start, ...(end ? [end] : [])]).bytes,
  };
}

/** An object without components. */
export function emptyObject(): CalendarObject {
  const head = ["BEGIN:VCALENDAR", "VERSION:2.0", PRODUCT, "END:VCALENDAR"];
  return new CalendarObject(head.map((line) => folded(line)));
}

/** The same object with a description of each zone that new times name. */
export function withZones(object: CalendarObject, moments: readonly Moment[]): CalendarObject {
  const known = new Set(object.of("VTIMEZONE").map((each) => valueOf(each.find("TZID") ?? "")));
  const events = object.components.flatMap(({ lines }) => lines).join("");
  const zones = moments.flatMap((moment) => {
    const { name } = moment.zone;
    if (moment.allDay || known.has(name) || !events.includes(`;TZID=${name}:`)) return [];
    known.add(name);
    const lines = zoneLines(moment.zone, firstYear(events, moment));
    return [new Component(lines.map((line) => folded(line)))];
  });
  return zones.length === 0 ? object : object.with([...zones, ...object.components]);
}

/** The first year in which the events have a time in the zone of a moment. */
function firstYear(events: string, { wall, zone }: Moment): number {
  const lines = events.split("\n").filter((line) => line.includes(`;TZID=${zone.name}:`));
  const years = lines.flatMap((line) => line.match(/\d{4}(?=\d{4}T)/g) ?? []).map(Number);
  return Math.min(new Date(wall).getUTCFullYear(), ...years);
}

/** Writes the rule of an event that starts then. @throws MantelError `invalid` */
export function setRule(event: Component, rule: string, start: Moment): void {
  const text = rule.replace(/^RRULE:/i, "").toUpperCase();
  try {
    parseRule(text, start);
  } catch (error) {
    throw invalid("/rrule", reasonOf(error));
  }
  event.set("RRULE", `RRULE:${text}`);
}
