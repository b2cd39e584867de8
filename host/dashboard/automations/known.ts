import { isRecord, type Part, type SectionName } from "./document.ts";
import { WEEKDAYS } from "./home.ts";

type Check = (value: unknown) => boolean;
/** The checks of the fields of a type. */
type Shape = Readonly<Record<string, Check>>;

const text: Check = (value) => typeof value === "string";
const number: Check = (value) => typeof value === "number" && Number.isFinite(value);
const flag: Check = (value) => typeof value === "boolean";
const list: Check = Array.isArray;
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const oneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value);
const days = optional(
  (value) => Array.isArray(value) && value.every((day) => WEEKDAYS.some((each) => each === day)),
);
const amount = optional(number);

const TRIGGERS: Readonly<Record<string, Shape>> = {
  state: { device: text, field: text, above: amount, below: amount, forMs: amount },
  event: { device: text, event: text },
  time: { at: text, days },
  cron: { expression: text },
  sun: { event: oneOf("sunrise", "sunset"), offsetMs: amount },
  calendar: {
    calendar: text,
    match: optional(text),
    edge: optional(oneOf("start", "end", "reminder")),
    offsetMs: amount,
  },
  mqtt: { topic: text, payload: optional(text) },
  presence: { anyone: flag, person: optional(text) },
  webhook: { name: text },
  start: {},
};

const CONDITIONS: Readonly<Record<string, Shape>> = {
  state: { device: text, field: text, above: amount, below: amount },
  time: { after: optional(text), before: optional(text), days },
  sun: { is: oneOf("up", "down") },
  presence: { anyone: flag, person: optional(text) },
  calendar: { calendar: text, match: optional(text) },
  all: { of: list },
  any: { of: list },
  none: { of: list },
};

const ACTIONS: Readonly<Record<string, Shape>> = {
  command: { device: text, command: isRecord, forMs: amount },
  scene: { scene: text },
  wait: { ms: number, maxMs: amount },
  ramp: { device: text, field: text, to: number, ms: number },
  waitFor: { trigger: isRecord, timeoutMs: number },
  notify: {
    message: text,
    to: optional((value) => typeof value === "string" || Array.isArray(value)),
  },
  // oxlint-disable-next-line unicorn/no-thenable -- the name in the document, which nobody awaits
  if: { conditions: list, then: list, else: optional(list) },
};

const SHAPES = { triggers: TRIGGERS, conditions: CONDITIONS, actions: ACTIONS } as const;

/** True if this page can show and edit a part. Others are kept as they are. */
export function isKnown(section: SectionName, part: Part): boolean {
  const shapes: Readonly<Record<string, Shape>> = SHAPES[section];
  const shape = Object.hasOwn(shapes, part.type) ? shapes[part.type] : undefined;
  return shape !== undefined && Object.entries(shape).every(([key, check]) => check(part[key]));
}
