import type { CalendarEventPatch, ChangeScope } from "@mantel/plugin-sdk";
import { MantelError } from "@mantel/plugin-sdk";
import { CalendarObject, type Component, valueOf } from "./edit-lines.ts";
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
import { type ChangeContext, type NewObject, setRule, withZones } from "./new-event.ts";
import { YieldingPace } from "./pace.ts";
import { parseFeed } from "./parse.ts";
import { Budget, expandRecurrence } from "./recurrence-expansion.ts";
import { shiftedUntil, withPart } from "./rule-text.ts";
import { zoneTable } from "./vtimezone.ts";
import { compact } from "./zone-text.ts";
import { DAY_MS, toWall } from "./zones.ts";

const REPETITIONS = ["RRULE", "RDATE", "EXRULE", "EXDATE"] as const;
const MAX_DAYS = 1_000_000;

/** One VEVENT of an object. */
interface EventText {
  readonly text: Component;
  readonly parsed: ParsedEvent;
}

/** A new start, with the length of the event from there. */
interface Times {
  readonly start: Moment;
  readonly length: ParsedEvent["length"];
  /** True if the end has to be written. */
  readonly hasEnd: boolean;
}

/** An object whose event is to be changed, as text and as it is understood. */
export class EditedObject {
  readonly #object: CalendarObject;
  readonly #context: ChangeContext;
  readonly #master: EventText;
  readonly #overrides: readonly EventText[];
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
      throw unsafe("its file is not an ordinary calendar object");
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
    events: readonly EventText[],
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
    const master = this.#master.text.copy();
    master.set("EXDATE", ...master.all("EXDATE"), timeLine("EXDATE", this.#origin, this.#like));
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
    const overrides = this.#overridesWith(fields, times !== undefined);
    if (times) {
      this.#moveAll(master, overrides, { shown, times, keepsRule: fields.rrule === undefined });
    }
    if (fields.rrule === null) master.set("RRULE");
    else if (fields.rrule !== undefined) setRule(master, fields.rrule, parsed.start);
    setTexts(master, fields);
    stamp(master, this.#context.now);
    return this.#written(master, overrides, times ? [times.start] : []).bytes;
  }

  /**
   * The changed occurrences within a change of all. The one that the user changes gets the new texts, and follows the
   * series again if that gets new times.
   */
  #overridesWith(fields: CalendarEventPatch, hasTimes: boolean): EventText[] {
    const own = this.#override;
    return this.#overrides.flatMap((each) => {
      if (each === own && hasTimes) return [];
      const text = each.text.copy();
      if (each === own) setTexts(text, fields);
      return [{ ...each, text }];
    });
  }

  #moveAll(
    master: Component,
    overrides: readonly EventText[],
    { shown, times, keepsRule }: { shown: Moment; times: Times; keepsRule: boolean },
  ): void {
    const { parsed } = this.#master;
    const { start } = times;
    const isSameClock = start.allDay === shown.allDay && start.zone.name === shown.zone.name;
    const by = start.wall - shown.wall;
    const moved = isSameClock
      ? { ...parsed.start, wall: parsed.start.wall + by }
      : { ...start, wall: start.wall + (dayOf(parsed.start) - dayOf(shown)) * DAY_MS };
    if (this.#repeats && keepsRule) {
      this.#requireMovable(overrides, isSameClock ? by : undefined);
      if (isSameClock) this.#shiftExceptions(master, overrides, by);
    }
    this.#setTimes(master, moved, times);
  }

  #updateOne(fields: CalendarEventPatch): Buffer {
    if (fields.rrule !== undefined) {
      throw invalid("/rrule", "the rule can be changed only for following or all occurrences");
    }
    const { text, parsed } = this.#master;
    const override = this.#override;
    const shown = override?.parsed.start ?? this.#origin;
    const length = override?.parsed.length ?? parsed.length;
    const one = override?.text.copy() ?? this.#copyOfOccurrence();
    const times = this.#times({ shown, length }, fields);
    if (times) this.#setTimes(one, times.start, times);
    else if (!override) this.#setTimes(one, shown, { length, hasEnd: false });
    setTexts(one, fields);
    stamp(one, this.#context.now);
    const others = this.#overrides.filter((each) => each !== override);
    const all = [...others, { text: one }];
    return this.#written(text, all, times ? [times.start] : []).bytes;
  }

  /** The event without its repetitions, for one occurrence. */
  #copyOfOccurrence(): Component {
    const one = this.#master.text.copy();
    for (const name of REPETITIONS) one.set(name);
    return one.set("RECURRENCE-ID", timeLine("RECURRENCE-ID", this.#origin, this.#like));
  }

  /** The start of the series, whose form other times of it have. */
  get #like() {
    const { text, parsed } = this.#master;
    return { line: text.find("DTSTART") ?? "", start: parsed.start };
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
  ): Times | undefined {
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
    event.set("DTSTART", timeLine("DTSTART", start, this.#like));
    const keepsDuration = !hasEnd && event.find("DURATION") !== undefined;
    const hadEnd = event.find("DTEND") !== undefined;
    if (keepsDuration || (!hasEnd && !hadEnd)) return;
    event.set("DURATION").set("DTEND", timeLine("DTEND", endOf(start, length), this.#like));
  }

  /** @throws MantelError `conflict` if a new time would change the meaning of the rule or its exceptions */
  #requireMovable(overrides: readonly EventText[], by: number | undefined): void {
    if (by === 0) return;
    const { parsed, text } = this.#master;
    const has = (name: string) => text.all(name).length > 0;
    if (has("RDATE") || has("EXRULE")) {
      throw unsafe("its series has single dates or excluded rules: change one occurrence");
    }
    if (by === undefined && (overrides.length > 0 || has("EXDATE"))) {
      throw unsafe(
        "it has changed or removed occurrences: change its zone or length for one, or set rrule",
      );
    }
    const moved = { ...parsed.start, wall: parsed.start.wall + (by ?? 0) };
    const staysOnDay = by !== undefined && dayOf(moved) === dayOf(parsed.start);
    if (!staysOnDay && text.all("RRULE").some((rule) => /BY|UNTIL/i.test(valueOf(rule)))) {
      throw unsafe("its rule names days: send the new rule as rrule with the new start");
    }
  }

  /** Moves removed and changed occurrences, and the end of the rule, with the series. */
  #shiftExceptions(master: Component, overrides: readonly EventText[], by: number): void {
    const { parsed, text } = this.#master;
    const shift = (name: string, moment: Moment) => {
      const wall = onClock(parsed.start, moment).wall + by;
      return timeLine(name, { ...parsed.start, wall }, this.#like);
    };
    if (parsed.removed.length > 0) {
      master.set("EXDATE", ...parsed.removed.map((each) => shift("EXDATE", each)));
    }
    for (const each of overrides) {
      const start = each.parsed.replaces?.start;
      if (start) each.text.set("RECURRENCE-ID", shift("RECURRENCE-ID", start));
    }
    const rules = text.all("RRULE").map((rule) => `RRULE:${shiftedUntil(valueOf(rule), by)}`);
    if (rules.some((rule) => /UNTIL/i.test(rule))) master.set("RRULE", ...rules);
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
