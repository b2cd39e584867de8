import type { CalendarEventPatch, ChangeScope, NewCalendarEvent } from "@mantel/plugin-sdk";
import { MantelError } from "@mantel/plugin-sdk";
import { CalendarObject, Component, folded, valueOf } from "./edit-lines.ts";
import {
  endOf,
  invalid,
  lengthBetween,
  momentOf,
  setTexts,
  stamp,
  timeLine,
  usualLength,
} from "./event-text.ts";
import { type FeedZones, type ParsedEvent, parseEvent } from "./event.ts";
import { dayOf, instantOf, type Moment } from "./moment.ts";
import { YieldingPace } from "./pace.ts";
import { parseFeed } from "./parse.ts";
import { Budget, expandRecurrence } from "./recurrence-expansion.ts";
import { parseRule } from "./recurrence.ts";
import { shiftedUntil, withPart } from "./rule-text.ts";
import { zoneTable } from "./vtimezone.ts";
import { compact, zoneLines } from "./zone-text.ts";
import { DAY_MS, toWall, type Zone } from "./zones.ts";

/** What a change needs from outside. */
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
const REPETITIONS = ["RRULE", "RDATE", "EXRULE", "EXDATE"] as const;
const MAX_DAYS = 1_000_000;

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
  const head = ["BEGIN:VCALENDAR", "VERSION:2.0", PRODUCT, "END:VCALENDAR"];
  const empty = new CalendarObject(head.map((line) => folded(line)));
  return { uid, bytes: withZones(empty.with([event]), [start, ...(end ? [end] : [])]).bytes };
}

/** An object whose event is to be changed, as text and as it is understood. */
export class EditedObject {
  readonly #object: CalendarObject;
  readonly #context: ChangeContext;
  readonly #master: { readonly text: Component; readonly parsed: ParsedEvent };
  readonly #overrides: { readonly text: Component; readonly parsed: ParsedEvent }[];
  /** The start that the series gave the occurrence. */
  readonly #origin: Moment;

  /**
   * @param origin the last part of the event's id
   * @throws MantelError `conflict` for an object that cannot be changed safely
   */
  static async read(
    bytes: Uint8Array,
    origin: string,
    context: ChangeContext,
  ): Promise<EditedObject> {
    const object = CalendarObject.read(bytes);
    const calendars = await parseFeed(bytes, new YieldingPace());
    const [calendar] = calendars;
    const texts = object.of("VEVENT");
    if (!calendar || calendars.length > 1 || texts.length !== calendar.events.length) {
      throw unsafe("its file has another form than events have");
    }
    const zones: FeedZones = { floating: context.zone, find: zoneTable(calendar.zones) };
    const events = texts.map((text) => {
      const lines = text.lines.slice(1, -1);
      const own = calendar.events[texts.indexOf(text)] ?? { lines };
      return { text, parsed: parseEvent(own, zones) };
    });
    return new EditedObject(object, events, { origin, context });
  }

  private constructor(
    object: CalendarObject,
    events: readonly { readonly text: Component; readonly parsed: ParsedEvent }[],
    { origin, context }: { readonly origin: string; readonly context: ChangeContext },
  ) {
    const [master, ...others] = events.filter(({ parsed }) => !parsed.replaces);
    if (!master || others.length > 0) throw unsafe("its file does not have exactly one series");
    this.#object = object;
    this.#context = context;
    this.#master = master;
    this.#overrides = events.filter(({ parsed }) => parsed.replaces);
    if (this.#overrides.some(({ parsed }) => parsed.replaces?.following)) {
      throw unsafe("it has a change for all following occurrences in one file");
    }
    this.#origin = originIn(origin, master.parsed.start);
  }

  /** The object after a change, and for `following` the object of the new series. @throws MantelError `invalid` */
  update(scope: ChangeScope, fields: CalendarEventPatch): { changed: Buffer; added?: NewObject } {
    if (!this.#repeats || scope === "all" || (scope === "following" && this.#isFirst)) {
      return { changed: this.#updateAll(fields) };
    }
    return scope === "this" ? { changed: this.#updateOne(fields) } : this.#split(fields);
  }

  /** The object without the occurrences; `undefined` if nothing of it is left. */
  remove(scope: ChangeScope): Buffer | undefined {
    if (!this.#repeats || scope === "all" || (scope === "following" && this.#isFirst)) {
      return undefined;
    }
    if (scope === "following") return this.#truncated().bytes;
    const { text, parsed } = this.#master;
    const master = text.copy();
    const like = { line: text.find("DTSTART") ?? "", start: parsed.start };
    master.set("EXDATE", ...master.all("EXDATE"), timeLine("EXDATE", this.#origin, like));
    stamp(master, this.#context.now);
    return this.#written(
      master,
      this.#overrides.filter((each) => each !== this.#override),
    ).bytes;
  }

  get #repeats(): boolean {
    const { rules, added } = this.#master.parsed;
    return rules.length > 0 || added.length > 0 || this.#overrides.length > 0;
  }

  get #isFirst(): boolean {
    return instantOf(this.#origin) === instantOf(this.#master.parsed.start);
  }

  get #override() {
    const at = instantOf(this.#origin);
    return this.#overrides.find((each) => this.#originOf(each.parsed) === at);
  }

  /** The instant of the occurrence that a change replaces; without a zone it is on the clock of the series. */
  #originOf({ replaces }: ParsedEvent): number {
    if (!replaces) return NaN;
    const { zone } = this.#master.parsed.start;
    return instantOf(replaces.floating ? { ...replaces.start, zone } : replaces.start);
  }

  #updateAll(fields: CalendarEventPatch): Buffer {
    const { text, parsed } = this.#master;
    const master = text.copy();
    const shown = this.#override?.parsed.start ?? (this.#repeats ? this.#origin : parsed.start);
    const times = this.#times({ shown, length: parsed.length }, fields);
    const overrides = this.#overrides.map((each) => ({ ...each, text: each.text.copy() }));
    if (times) {
      const { start, length, hasEnd } = times;
      const isSameClock = start.allDay === shown.allDay && start.zone.name === shown.zone.name;
      const by = start.wall - shown.wall;
      const moved = isSameClock
        ? { ...parsed.start, wall: parsed.start.wall + by }
        : { ...start, wall: start.wall + (dayOf(parsed.start) - dayOf(shown)) * DAY_MS };
      if (this.#repeats && fields.rrule === undefined) {
        this.#shiftRepetitions(master, overrides, isSameClock ? by : undefined);
      }
      this.#setTimes(master, moved, { length, hasEnd });
    }
    if (fields.rrule === null) master.set("RRULE");
    else if (fields.rrule !== undefined) setRule(master, fields.rrule, parsed.start);
    setTexts(master, fields);
    stamp(master, this.#context.now);
    return this.#written(master, overrides, times ? [times.start] : []).bytes;
  }

  #updateOne(fields: CalendarEventPatch): Buffer {
    if (fields.rrule !== undefined) {
      throw invalid("/rrule", "the rule can be changed only for following or all occurrences");
    }
    const { text, parsed } = this.#master;
    const override = this.#override;
    const shown = override?.parsed.start ?? this.#origin;
    const length = override?.parsed.length ?? parsed.length;
    const like = { line: text.find("DTSTART") ?? "", start: parsed.start };
    const one = (override?.text ?? text).copy();
    if (!override) {
      for (const name of REPETITIONS) one.set(name);
      one.set("RECURRENCE-ID", timeLine("RECURRENCE-ID", this.#origin, like));
    }
    const times = this.#times({ shown, length }, fields);
    if (times || !override) {
      this.#setTimes(one, times?.start ?? shown, {
        length: times?.length ?? length,
        hasEnd: times?.hasEnd ?? false,
      });
    }
    setTexts(one, fields);
    stamp(one, this.#context.now);
    const others = this.#overrides.filter((each) => each !== override);
    const all = [...others, { text: one }];
    return this.#written(text, all, times ? [times.start] : []).bytes;
  }

  /** Ends the series before the occurrence, and continues it as a new one with the changes. */
  #split(fields: CalendarEventPatch): { changed: Buffer; added: NewObject } {
    const { text, parsed } = this.#master;
    const uid = this.#context.newUid();
    const from = instantOf(this.#origin);
    const later = this.#overrides.filter((each) => this.#originOf(each.parsed) >= from);
    const master = text.copy();
    this.#setTimes(master, this.#origin, { length: parsed.length, hasEnd: false });
    master.set("RRULE", `RRULE:${this.#ruleWithoutEarlier()}`);
    const events = [master, ...later.map((each) => each.text.copy())];
    for (const event of events) event.set("UID", `UID:${uid}`);
    const continued = this.#object.with([...this.#others, ...events]);
    const zone = this.#context;
    const added = new EditedObject(
      continued,
      [
        { text: master, parsed: { ...parsed, start: this.#origin } },
        ...later.map((each, at) => ({ ...each, text: events[at + 1] ?? each.text })),
      ],
      { origin: originText(this.#origin), context: zone },
    );
    return {
      changed: this.#truncated().bytes,
      added: { uid, bytes: added.#updateAll(fields) },
    };
  }

  /** The object with only the occurrences before this one. */
  #truncated(): CalendarObject {
    const { text, parsed } = this.#master;
    const rule = this.#onlyRule();
    const from = instantOf(this.#origin);
    const until = parsed.start.allDay
      ? compact(this.#origin.wall - DAY_MS).slice(0, 8)
      : `${compact(from - 1_000)}Z`;
    const master = text.copy();
    master.set("RRULE", `RRULE:${withPart(withPart(rule, "COUNT"), "UNTIL", until)}`);
    stamp(master, this.#context.now);
    const earlier = this.#overrides.filter((each) => this.#originOf(each.parsed) < from);
    return this.#written(master, earlier);
  }

  #ruleWithoutEarlier(): string {
    const rule = this.#onlyRule();
    const { parsed } = this.#master;
    const [expanded] = parsed.rules;
    if (!expanded || !Number.isFinite(expanded.count)) return rule;
    const span = { from: parsed.start.wall, to: this.#origin.wall };
    const budget = new Budget(MAX_DAYS);
    const starts = new Set([parsed.start.wall]);
    for (const wall of expandRecurrence(expanded, parsed.start.wall, { span, budget })) {
      if (wall < this.#origin.wall) starts.add(wall);
    }
    return withPart(rule, "COUNT", String(expanded.count - starts.size));
  }

  #onlyRule(): string {
    const { text } = this.#master;
    const [rule, ...others] = text.all("RRULE");
    if (rule !== undefined && others.length === 0 && text.all("RDATE").length === 0) {
      return valueOf(rule);
    }
    throw unsafe("its series has several rules or single dates: change one occurrence, or all");
  }

  #times(
    { shown, length }: { shown: Moment; length: ParsedEvent["length"] },
    fields: CalendarEventPatch,
  ) {
    if (fields.start === undefined && fields.end === undefined) return undefined;
    const zone = shown.allDay ? this.#context.zone : shown.zone;
    const start = fields.start ? momentOf(fields.start, zone, "start") : shown;
    if (fields.end) {
      const end = momentOf(fields.end, start.allDay ? zone : start.zone, "end");
      return { start, length: lengthBetween(start, end), hasEnd: true };
    }
    const isSameKind = start.allDay === shown.allDay;
    const { zone: _, ...same } = length;
    return { start, length: isSameKind ? same : usualLength(start), hasEnd: !isSameKind };
  }

  /** Writes start and end. A DURATION stays unless the length has changed. */
  #setTimes(
    event: Component,
    start: Moment,
    { length, hasEnd }: { readonly length: ParsedEvent["length"]; readonly hasEnd: boolean },
  ): void {
    const { text, parsed } = this.#master;
    const like = { line: text.find("DTSTART") ?? "", start: parsed.start };
    event.set("DTSTART", timeLine("DTSTART", start, like));
    const keepsDuration = !hasEnd && event.find("DURATION") !== undefined;
    const hadEnd = event.find("DTEND") !== undefined;
    if (keepsDuration || (!hasEnd && !hadEnd)) return;
    event.set("DURATION").set("DTEND", timeLine("DTEND", endOf(start, length), like));
  }

  /** Moves the exceptions of a series with it. @throws MantelError `conflict` for what would change its meaning */
  #shiftRepetitions(
    master: Component,
    overrides: readonly { readonly text: Component; readonly parsed: ParsedEvent }[],
    by: number | undefined,
  ): void {
    if (by === 0) return;
    const { parsed, text } = this.#master;
    const hasExceptions =
      overrides.length > 0 ||
      REPETITIONS.some((name) => name !== "RRULE" && text.all(name).length > 0);
    const rules = text.all("RRULE").map(valueOf);
    const movesDays =
      by === undefined || by % DAY_MS !== 0 || rules.some((rule) => /BY/i.test(rule));
    const moved =
      by === undefined ? undefined : dayOf({ ...parsed.start, wall: parsed.start.wall + by });
    const staysOnDay = moved === dayOf(parsed.start);
    if (by === undefined && hasExceptions) {
      throw unsafe(
        "it has changed or removed occurrences: change its zone or length for one, or set rrule",
      );
    }
    if (!staysOnDay && movesDays && rules.some((rule) => /BY|UNTIL/i.test(rule))) {
      throw unsafe("its rule names days: send the new rule as rrule with the new start");
    }
    if (by === undefined) return;
    const like = { line: text.find("DTSTART") ?? "", start: parsed.start };
    const shift = (name: string, moment: Moment) =>
      timeLine(name, { ...parsed.start, wall: onClock(parsed.start, moment).wall + by }, like);
    if (text.all("RDATE").length + text.all("EXRULE").length > 0) {
      throw unsafe("its series has single dates or excluded rules: change one occurrence");
    }
    if (parsed.removed.length > 0) {
      master.set("EXDATE", ...parsed.removed.map((each) => shift("EXDATE", each)));
    }
    for (const each of overrides) {
      const start = each.parsed.replaces?.start;
      if (start) each.text.set("RECURRENCE-ID", shift("RECURRENCE-ID", start));
    }
    const until = rules.map((rule) => /UNTIL=(\d{8}T\d{6}Z)/i.exec(rule)?.[1]);
    if (until.some((each) => each !== undefined)) {
      master.set(
        "RRULE",
        ...rules.map((rule) => shiftedUntil(rule, by)).map((rule) => `RRULE:${rule}`),
      );
    }
  }

  /** The components that are not events, such as zones. */
  get #others(): Component[] {
    return this.#object.components.filter(({ kind }) => kind !== "VEVENT");
  }

  #written(
    master: Component,
    overrides: readonly { readonly text: Component }[],
    moments: readonly Moment[] = [],
  ): CalendarObject {
    const events = [master, ...overrides.map(({ text }) => text)];
    return withZones(this.#object.with([...this.#others, ...events]), moments);
  }
}

/** The same object with a description of each zone that new times name. */
function withZones(object: CalendarObject, moments: readonly Moment[]): CalendarObject {
  const known = new Set(object.of("VTIMEZONE").map((each) => valueOf(each.find("TZID") ?? "")));
  const events = object.components.flatMap(({ lines }) => lines).join("");
  const zones = moments.flatMap((moment) => {
    const { name } = moment.zone;
    if (moment.allDay || known.has(name) || !events.includes(`;TZID=${name}:`)) return [];
    known.add(name);
    const year = new Date(moment.wall).getUTCFullYear();
    return [new Component(zoneLines(moment.zone, year).map((line) => folded(line)))];
  });
  return zones.length === 0 ? object : object.with([...zones, ...object.components]);
}

function setRule(event: Component, rule: string, start: Moment): void {
  const text = rule.replace(/^RRULE:/i, "").toUpperCase();
  try {
    parseRule(text, start);
  } catch (error) {
    throw invalid("/rrule", error instanceof Error ? error.message : "it cannot be read");
  }
  event.set("RRULE", `RRULE:${text}`);
}

function onClock(first: Moment, moment: Moment): Moment {
  if (first.allDay || moment.allDay || moment.zone === first.zone) return moment;
  return { ...first, wall: toWall(first.zone, instantOf(moment)) };
}

/** The start in an id, on the clock of the series. @throws MantelError `not_found` */
function originIn(text: string, first: Moment): Moment {
  const at = Date.parse(text);
  const isDate = /^\d{4}-\d\d-\d\d$/.test(text);
  if (Number.isNaN(at) || isDate !== first.allDay) {
    throw new MantelError("not_found", `the event has no occurrence ${text.slice(0, 40)}`);
  }
  return first.allDay ? { ...first, wall: at } : { ...first, wall: toWall(first.zone, at) };
}

function originText(moment: Moment): string {
  const text = new Date(instantOf(moment)).toISOString();
  return moment.allDay ? text.slice(0, 10) : `${text.slice(0, 19)}Z`;
}

function unsafe(why: string): MantelError {
  return new MantelError("conflict", `the event cannot be changed here: ${why}`);
}
