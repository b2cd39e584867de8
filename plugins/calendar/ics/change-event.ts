import {
  type CalendarEventPatch,
  type ChangeScope,
  MantelError,
  sentence,
} from "@mantel/plugin-sdk";
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
import { type EventText, moveSeries, unsafe } from "./move-series.ts";
import { type ChangeContext, type NewObject, setRule, withZones } from "./new-event.ts";
import { parseFeed } from "./parse.ts";
import { Budget, expandRecurrence } from "./recurrence-expansion.ts";
import { withPart } from "./rule-text.ts";
import { TimeSlice } from "./time-slice.ts";
import { zoneTable } from "./vtimezone.ts";
import { compact } from "./zone-text.ts";
import { DAY_MS, toWall } from "./zones.ts";

const REPETITIONS = ["RRULE", "RDATE", "EXRULE", "EXDATE"] as const;
const MAX_DAYS = 1_000_000;

export const NOT_ORDINARY = sentence(
  "not_ordinary",
  "the event cannot be changed here: its file is not one ordinary event or series",
);
const HAS_FOLLOWING = sentence(
  "has_following",
  "the event cannot be changed here: its file has a change of all following occurrences",
);
const SEVERAL_RULES = sentence(
  "several_rules",
  "the series has several rules or single dates: change one occurrence, or all",
);
const RULE_OF_ONE = sentence(
  "rule_of_one",
  "the rule can be changed only for following or all occurrences",
);

/** A new start, with the length of the event from there. */
interface Times {
  readonly start: Moment;
  readonly length: ParsedEvent["length"];
  /** True if the end has to be written. */
  readonly hasEnd: boolean;
}

/** An object without the occurrences that have moved to another one. */
export interface Rest {
  readonly bytes: Buffer;
  /** A text that the object has since then. */
  readonly mark: string;
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
    const calendars = await parseFeed(bytes, new TimeSlice());
    const [calendar] = calendars;
    const texts = object.of("VEVENT");
    if (!calendar || calendars.length > 1 || texts.length !== calendar.events.length) {
      throw unsafe(NOT_ORDINARY);
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
    if (!master || others.length > 0) throw unsafe(NOT_ORDINARY);
    this.#object = object;
    this.#context = context;
    this.#master = master;
    this.#overrides = events.filter(({ parsed }) => parsed.replaces);
    if (this.#overrides.some(({ parsed }) => parsed.replaces?.following)) {
      throw unsafe(HAS_FOLLOWING);
    }
    this.#origin = originIn(origin, master.parsed.start);
  }

  /** The object after a change, and for `following` the object of the new series. @throws MantelError `invalid` */
  update(
    scope: ChangeScope,
    fields: CalendarEventPatch,
  ): { changed: Buffer } | { added: NewObject; rest: Rest } {
    if (!this.#repeats || scope === "all" || (scope === "following" && this.#isFirst)) {
      return { changed: this.#updateAll(fields) };
    }
    return scope === "this" ? { changed: this.#updateOne(fields) } : this.#split(fields);
  }

  /**
   * The event for another calendar, with the changes, and the object without it. `rest` is absent if the whole object
   * moves. @throws MantelError `invalid`
   */
  detach(scope: ChangeScope, fields: CalendarEventPatch): { added: NewObject; rest?: Rest } {
    if (!this.#repeats || scope === "all" || (scope === "following" && this.#isFirst)) {
      const uid = valueOf(this.#master.text.find("UID") ?? "");
      return { added: { uid, bytes: this.#updateAll(fields) } };
    }
    if (scope === "following") return this.#split(fields);
    return { added: this.#single(fields), rest: this.#withoutOne() };
  }

  /** The object without the occurrences; `undefined` if nothing of it is left. */
  remove(scope: ChangeScope): Buffer | undefined {
    if (!this.#repeats || scope === "all" || (scope === "following" && this.#isFirst)) {
      return undefined;
    }
    return (scope === "following" ? this.#truncated() : this.#withoutOne()).bytes;
  }

  #withoutOne(): Rest {
    const master = this.#master.text.copy();
    const removed = timeLine("EXDATE", this.#origin, this.#like);
    master.set("EXDATE", ...master.all("EXDATE"), removed);
    stamp(master, this.#context.now);
    const others = this.#overrides.filter((each) => each !== this.#override);
    return { bytes: this.#written(master, others).bytes, mark: valueOf(removed) };
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
    const isSameClock = start.allDay
      ? shown.allDay
      : !shown.allDay && start.zone.name === shown.zone.name;
    const by = start.wall - shown.wall;
    const moved = isSameClock
      ? { ...parsed.start, wall: parsed.start.wall + by }
      : { ...start, wall: start.wall + (dayOf(parsed.start) - dayOf(shown)) * DAY_MS };
    if (this.#repeats && keepsRule) {
      moveSeries({ master, parsed, overrides }, isSameClock ? by : undefined);
    }
    this.#setTimes(master, moved, times);
  }

  #updateOne(fields: CalendarEventPatch): Buffer {
    const { one, times } = this.#changedOccurrence(fields);
    const others = this.#overrides.filter((each) => each !== this.#override);
    const all = [...others, { text: one }];
    return this.#written(this.#master.text, all, times ? [times.start] : []).bytes;
  }

  /** The occurrence as an event of its own. */
  #single(fields: CalendarEventPatch): NewObject {
    const { one, times } = this.#changedOccurrence(fields);
    const uid = this.#context.newUid();
    one.set("RECURRENCE-ID").set("UID", `UID:${uid}`);
    return { uid, bytes: this.#written(one, [], times ? [times.start] : []).bytes };
  }

  #changedOccurrence(fields: CalendarEventPatch): { one: Component; times: Times | undefined } {
    if (fields.rrule !== undefined) throw invalid("/rrule", RULE_OF_ONE);
    const override = this.#override;
    const shown = override?.parsed.start ?? this.#origin;
    const length = override?.parsed.length ?? this.#master.parsed.length;
    const one = override?.text.copy() ?? this.#copyOfOccurrence();
    const times = this.#times({ shown, length }, fields);
    if (times) this.#setTimes(one, times.start, times);
    else if (!override) this.#setTimes(one, shown, { length, hasEnd: false });
    setTexts(one, fields);
    stamp(one, this.#context.now);
    return { one, times };
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
  #split(fields: CalendarEventPatch): { added: NewObject; rest: Rest } {
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
      added: { uid, bytes: added.#updateAll(fields) },
      rest: this.#truncated(),
    };
  }

  /** The object with only the occurrences before this one. */
  #truncated(): Rest {
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
    return { bytes: this.#written(master, earlier).bytes, mark: `UNTIL=${until}` };
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
    throw unsafe(SEVERAL_RULES);
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

/** The start in an id, on the clock of the series. @throws MantelError `not_found` */
function originIn(text: string, first: Moment): Moment {
  const at = Date.parse(text);
  const isDate = /^\d{4}-\d\d-\d\d$/.test(text);
  if (Number.isNaN(at) || isDate !== first.allDay) {
    const told = sentence("no_occurrence", "the event has no occurrence {start}", {
      start: text.slice(0, 40),
    });
    throw new MantelError("not_found", told);
  }
  return first.allDay ? { ...first, wall: at } : { ...first, wall: toWall(first.zone, at) };
}

function originText(moment: Moment): string {
  const text = new Date(instantOf(moment)).toISOString();
  return moment.allDay ? text.slice(0, 10) : `${text.slice(0, 19)}Z`;
}
