import type { Trigger, Weekday } from "../engine/document.ts";
import { WEEKDAYS } from "../engine/document.ts";
import { anyoneHome, changeOf, entitiesIn, forOf, limitsOf } from "./changes.ts";
import { deviceTriggers, eventTriggers } from "./device-triggers.ts";
import {
  clockOf,
  durationOf,
  type Fields,
  fieldsOf,
  isFields,
  isNo,
  listOf,
  refuseFields,
  type Scope,
  textOf,
  Unmappable,
} from "./scope.ts";
import { attributeOf } from "./states.ts";

type Convert = (fields: Fields, scope: Scope) => Trigger[];

/** The triggers, each with the id that conditions may ask for. Those that cannot be mapped leave a reason. */
export function convertTriggers(
  value: unknown,
  scope: Scope,
): { readonly ids: readonly string[]; readonly trigger: Trigger }[] {
  return flattened(value).flatMap((each, index) => {
    if (isFields(each) && isNo(each["enabled"])) {
      scope.note(`trigger ${index + 1} is switched off, and left out`);
      return [];
    }
    const made = scope.attempt(`trigger ${index + 1}`, () => convertTrigger(each, scope));
    const ids = isFields(each) ? listOf(each["id"]).map(String) : [];
    return made.map((trigger) => ({ ids: ids.length > 0 ? ids : [String(index)], trigger }));
  });
}

/** Lists of triggers inside lists are one list. */
function flattened(value: unknown): unknown[] {
  return listOf(value).flatMap((each) =>
    isFields(each) && each["triggers"] !== undefined && each["trigger"] === undefined
      ? listOf(each["triggers"])
      : [each],
  );
}

/** One trigger, which may be several here. @throws Unmappable */
export function convertTrigger(value: unknown, scope: Scope): Trigger[] {
  const fields = fieldsOf(value);
  const kind = textOf(fields["trigger"] ?? fields["platform"], "trigger");
  const convert = Object.hasOwn(BY_KIND, kind) ? BY_KIND[kind] : undefined;
  if (!convert) throw new Unmappable(`triggers of the kind "${kind}" have no counterpart`);
  return convert(fields, scope);
}

const BY_KIND: Readonly<Record<string, Convert>> = {
  state: stateTriggers,
  numeric_state: numericTriggers,
  time: timeTriggers,
  time_pattern: (fields) => [pattern(fields)],
  sun: (fields) => [sunTrigger(fields)],
  event: eventTriggers,
  device: deviceTriggers,
  mqtt: (fields) => [mqttTrigger(fields)],
  homeassistant(fields) {
    const event = textOf(fields["event"], "event");
    if (event !== "start") throw new Unmappable(`the event "${event}" has no counterpart`);
    return [{ type: "start" }];
  },
  webhook(fields, scope) {
    const id = textOf(fields["webhook_id"], "webhook_id");
    const name = id
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, "-")
      .replaceAll(/^-+|-+$/g, "")
      .slice(0, 60);
    if (name === "") throw new Unmappable("the webhook has no usable name");
    scope.note(`the webhook has a new address, which ends with ${name}`);
    return [{ type: "webhook", name }];
  },
  calendar: calendarTriggers,
  zone: zoneTriggers,
};

function stateTriggers(fields: Fields, scope: Scope): Trigger[] {
  const states = (name: string) =>
    (Array.isArray(fields[name]) ? fields[name] : [fields[name]]).map((each: unknown) =>
      each === undefined || each === null || each === "*" ? undefined : textOf(each, name),
    );
  for (const name of ["not_to", "not_from"]) {
    const left = listOf(fields[name]).map((each) => textOf(each, name));
    // nothing here changes to one of these
    if (left.some((each) => each !== "unavailable" && each !== "unknown")) {
      throw new Unmappable(`"${name}" has no counterpart`);
    }
  }
  const rest = forOf(fields);
  return entitiesIn(fields["entity_id"]).flatMap((entity) =>
    states("to").flatMap((to) =>
      states("from").map((from) => stateTrigger(scope, fields, entity, { to, from, ...rest })),
    ),
  );
}

interface Change {
  readonly to?: string | undefined;
  readonly from?: string | undefined;
  readonly forMs?: number;
}

function stateTrigger(scope: Scope, fields: Fields, entity: string, change: Change): Trigger {
  const { to, from } = change;
  const forMs = change.forMs === undefined ? {} : { forMs: change.forMs };
  const special = sunOrPresence(entity, to);
  if (special) {
    if (change.forMs) throw new Unmappable(`"for" has no counterpart at ${entity}`);
    return special;
  }
  const match = scope.match(entity);
  if (fields["attribute"] !== undefined) {
    const { field } = attributeOf(match, textOf(fields["attribute"], "attribute"));
    const value = (text: string) =>
      text !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
    return {
      type: "state",
      device: match.id,
      field,
      ...(to !== undefined && { to: value(to) }),
      ...(from !== undefined && { from: value(from) }),
      ...forMs,
    };
  }
  return { type: "state", device: match.id, ...changeOf(match, to, from), ...forMs };
}

/** Entities of Home Assistant itself: the sun, and all people together. */
function sunOrPresence(entity: string, to: string | undefined): Trigger | undefined {
  if (entity === "sun.sun") {
    if (to === "above_horizon") return { type: "sun", event: "sunrise" };
    if (to === "below_horizon") return { type: "sun", event: "sunset" };
    throw new Unmappable("this change of sun.sun has no counterpart");
  }
  const anyone = anyoneHome(entity, to);
  return anyone === undefined ? undefined : { type: "presence", anyone };
}

function numericTriggers(fields: Fields, scope: Scope): Trigger[] {
  const rest = forOf(fields);
  return entitiesIn(fields["entity_id"]).map((entity) => {
    if (entity === "zone.home") return { type: "presence", anyone: fields["above"] !== undefined };
    if (entity === "sun.sun") throw new Unmappable("the height of the sun has no counterpart");
    const match = scope.match(entity);
    return { type: "state", device: match.id, ...limitsOf(fields, match), ...rest };
  });
}

function timeTriggers(fields: Fields): Trigger[] {
  if (fields["at"] === undefined) return [pattern(fields)];
  const days = daysOf(fields["weekday"]);
  return listOf(fields["at"]).map((each) => {
    if (isFields(each)) throw new Unmappable(`"at" is the time in ${String(each["entity_id"])}`);
    return { type: "time", at: clockOf(each, "at"), ...days };
  });
}

/** Days of the week, as a field of a trigger or condition. */
export function daysOf(value: unknown): { readonly days?: Weekday[] } {
  if (value === undefined || value === null) return {};
  const days = listOf(value).map((each) => textOf(each, "weekday").slice(0, 3).toLowerCase());
  const known = WEEKDAYS.filter((day) => days.includes(day));
  if (known.length === 0) throw new Unmappable(`"weekday" has no day of the week`);
  return { days: known };
}

/** Parts of a time pattern that are absent are 0 below the first one, and any above it. */
function pattern(fields: Fields): Trigger {
  const names = ["seconds", "minutes", "hours"] as const;
  const first = names.findLastIndex((name) => fields[name] !== undefined);
  if (first < 0) throw new Unmappable("the time is missing");
  const parts = names.map((name, at) => {
    const value = fields[name];
    if (value === undefined || value === null) return at < first ? "0" : "*";
    const text = textOf(value, name);
    if (!/^(\*|\/?\d{1,2}|\*\/\d{1,2})$/.test(text)) {
      throw new Unmappable(`"${name}" is not a pattern: ${text.slice(0, 50)}`);
    }
    if (text === "*") return text;
    return text.includes("/") ? `*/${Number(text.replace(/^\*?\//, ""))}` : String(Number(text));
  });
  const [seconds = "0", minutes = "*", hours = "*"] = parts;
  const expression = `${minutes} ${hours} * * *`;
  return { type: "cron", expression: seconds === "0" ? expression : `${seconds} ${expression}` };
}

function sunTrigger(fields: Fields): Trigger {
  const event = textOf(fields["event"], "event").toLowerCase();
  if (event !== "sunrise" && event !== "sunset") throw new Unmappable(`"event" is not of the sun`);
  const { offset } = fields;
  const offsetMs = offset === undefined || offset === null ? 0 : durationOf(offset, "offset");
  return { type: "sun", event, ...(offsetMs !== 0 && { offsetMs }) };
}

function mqttTrigger(fields: Fields): Trigger {
  refuseFields(fields, ["value_template"]);
  const { payload } = fields;
  const topic = textOf(fields["topic"], "topic");
  if (payload === undefined || payload === null) return { type: "mqtt", topic };
  // a number or yes or no in the file is text in the message, as it is written there
  const text = typeof payload === "boolean" ? String(payload) : textOf(payload, "payload");
  return { type: "mqtt", topic, payload: text };
}

function calendarTriggers(fields: Fields, scope: Scope): Trigger[] {
  const edge = fields["event"] === undefined ? "start" : textOf(fields["event"], "event");
  if (edge !== "start" && edge !== "end") throw new Unmappable(`"event" is not start or end`);
  const { offset } = fields;
  const offsetMs = offset === undefined || offset === null ? 0 : durationOf(offset, "offset");
  return entitiesIn(fields["entity_id"]).map((entity) => ({
    ...{ type: "calendar", calendar: scope.match(entity).id },
    ...(edge === "end" && { edge }),
    ...(offsetMs !== 0 && { offsetMs }),
  })) as Trigger[];
}

function zoneTriggers(fields: Fields, scope: Scope): Trigger[] {
  const zone = textOf(fields["zone"], "zone");
  const event = textOf(fields["event"] ?? "enter", "event");
  if (zone !== "zone.home")
    throw new Unmappable(`only zone.home has a counterpart, and not ${zone}`);
  const to = event === "enter" ? "home" : "not_home";
  return entitiesIn(fields["entity_id"]).map((entity) => {
    const special = sunOrPresence(entity, to);
    if (special) return special;
    const match = scope.match(entity);
    return { type: "state", device: match.id, ...changeOf(match, to, undefined) };
  });
}
