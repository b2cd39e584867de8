import type { CommandBody, StateValue } from "@mantel/plugin-sdk";
import { type Static, Type } from "typebox";

const Strict = { additionalProperties: false } as const;

/** Limits of one automation. */
export const LIMITS = {
  documentBytes: 65_536,
  triggers: 50,
  conditions: 100,
  /** Actions on all levels together. */
  actions: 200,
  /** Levels of `if`, `all`, `any` and `none` inside each other. */
  depth: 8,
} as const;

export const MODES = ["single", "restart", "queued", "parallel"] as const;
/**
 * The effect of a trigger while the automation runs: `single` ignores it, `restart` cancels the run and begins again,
 * `queued` runs afterwards, `parallel` runs beside it.
 */
export type Mode = (typeof MODES)[number];

export const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;
export type Weekday = (typeof WEEKDAYS)[number];

const DAY_MS = 24 * 60 * 60 * 1_000;
const YEAR_MS = 366 * DAY_MS;

const DeviceId = Type.String({ minLength: 1, maxLength: 150 });
/** A field of the state: `on`, `parts/light/on`, `extra/childLock`; or `available`. */
const Field = Type.String({ minLength: 1, maxLength: 200 });
const Value = Type.Unsafe<StateValue>(Type.Unknown());
const Duration = Type.Integer({ minimum: 0, maximum: YEAR_MS });
const WEEK_MS = 7 * DAY_MS;
const Offset = Type.Integer({ minimum: -WEEK_MS, maximum: WEEK_MS });
const TimeOfDay = Type.String({
  pattern: "^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$",
  description: "a time of day such as 07:30, in the time zone of the home",
});
const Days = Type.Array(Type.Enum([...WEEKDAYS]), {
  minItems: 1,
  maxItems: 7,
  uniqueItems: true,
  description: "days of the week; absent means every day",
});
/** The policy for a time that passed while Mantel did not run; absent means `skip`. */
const Missed = Type.Enum(["skip", "once"]);
const Id = Type.String({ minLength: 1, maxLength: 200 });
const Name = Type.String({ minLength: 1, maxLength: 200 });
const Optional = Type.Optional;
const Presence = Type.Object(
  {
    type: Type.Literal("presence"),
    anyone: Type.Boolean(),
    /** The id of a tracker; absent for all of them. */
    person: Optional(DeviceId),
  },
  Strict,
);
const VariableName = Type.String({ pattern: "^[A-Za-z][A-Za-z0-9_-]{0,59}$" });

/** The triggers by their type. */
export const TRIGGERS = {
  /** Without `to`, `from`, `above` and `below`: each change of the field. With limits: the value crosses into them. */
  state: Type.Object(
    {
      type: Type.Literal("state"),
      device: DeviceId,
      field: Field,
      to: Optional(Value),
      from: Optional(Value),
      above: Optional(Type.Number()),
      below: Optional(Type.Number()),
      /** The distance by which the value must leave the limits before it can cross into them again. */
      hysteresis: Optional(Type.Number({ minimum: 0 })),
      /** Time for which the value must stay. */
      forMs: Optional(Duration),
    },
    Strict,
  ),
  event: Type.Object(
    { type: Type.Literal("event"), device: DeviceId, event: Type.String({ maxLength: 100 }) },
    Strict,
  ),
  time: Type.Object(
    {
      type: Type.Literal("time"),
      at: TimeOfDay,
      days: Optional(Days),
      missed: Optional(Missed),
    },
    Strict,
  ),
  cron: Type.Object(
    {
      type: Type.Literal("cron"),
      expression: Type.String({ minLength: 1, maxLength: 200 }),
      missed: Optional(Missed),
    },
    Strict,
  ),
  sun: Type.Object(
    {
      type: Type.Literal("sun"),
      event: Type.Enum(["sunrise", "sunset"]),
      offsetMs: Optional(Type.Integer({ minimum: -43_200_000, maximum: 43_200_000 })),
      missed: Optional(Missed),
    },
    Strict,
  ),
  /** The start of an event, its end, or its reminders; `offsetMs` below 0 is before it. */
  calendar: Type.Object(
    {
      type: Type.Literal("calendar"),
      /** The id of a calendar; `*` for all. */
      calendar: Id,
      /** A part of the title, in any case. */
      match: Optional(Name),
      edge: Optional(Type.Enum(["start", "end", "reminder"])),
      offsetMs: Optional(Offset),
      missed: Optional(Missed),
    },
    Strict,
  ),
  mqtt: Type.Object(
    {
      type: Type.Literal("mqtt"),
      /** A topic, or a filter with `+` and `#`. */
      topic: Type.String({ minLength: 1, maxLength: 1_000 }),
      /** The whole payload as text; absent for any. */
      payload: Optional(Type.String({ maxLength: 10_000 })),
    },
    Strict,
  ),
  /** `anyone: true` when the first person comes home, `false` when the last one leaves; with `person` when that one does. */
  presence: Presence,
  webhook: Type.Object(
    { type: Type.Literal("webhook"), name: Type.String({ pattern: "^[a-z0-9][a-z0-9-]{0,59}$" }) },
    Strict,
  ),
  /** The start of Mantel, and of this plugin after a crash; not a reload. */
  start: Type.Object({ type: Type.Literal("start") }, Strict),
} as const;
export type TriggerType = keyof typeof TRIGGERS;
export type TriggerOf<T extends TriggerType> = Static<(typeof TRIGGERS)[T]>;
export type Trigger = { [T in TriggerType]: TriggerOf<T> }[TriggerType];

/** The conditions without parts by their type. */
export const CONDITIONS = {
  state: Type.Object(
    {
      type: Type.Literal("state"),
      device: DeviceId,
      field: Field,
      equals: Optional(Value),
      above: Optional(Type.Number()),
      below: Optional(Type.Number()),
    },
    Strict,
  ),
  /** From `after` to before `before`, also across midnight; `days` are those on which the span begins. */
  time: Type.Object(
    {
      type: Type.Literal("time"),
      after: Optional(TimeOfDay),
      before: Optional(TimeOfDay),
      days: Optional(Days),
    },
    Strict,
  ),
  sun: Type.Object({ type: Type.Literal("sun"), is: Type.Enum(["up", "down"]) }, Strict),
  presence: Presence,
  /** True during an event. */
  calendar: Type.Object(
    { type: Type.Literal("calendar"), calendar: Id, match: Optional(Name) },
    Strict,
  ),
  /** One that was never set is unknown. */
  variable: Type.Object(
    {
      type: Type.Literal("variable"),
      name: VariableName,
      equals: Optional(Value),
      above: Optional(Type.Number()),
      below: Optional(Type.Number()),
    },
    Strict,
  ),
} as const;
export type SimpleConditionType = keyof typeof CONDITIONS;
export type SimpleConditionOf<T extends SimpleConditionType> = Static<(typeof CONDITIONS)[T]>;
type SimpleCondition = { [T in SimpleConditionType]: SimpleConditionOf<T> }[SimpleConditionType];

export const GROUPS = ["all", "any", "none"] as const;
export interface ConditionGroup {
  readonly type: (typeof GROUPS)[number];
  readonly of: readonly Condition[];
}
export type Condition = SimpleCondition | ConditionGroup;

/** The actions without parts by their type. */
export const ACTIONS = {
  command: Type.Object(
    {
      type: Type.Literal("command"),
      device: DeviceId,
      command: Type.Unsafe<CommandBody>(Type.Object({}, { minProperties: 1, maxProperties: 50 })),
      /** Time after which the fields get the values that they had before. The next actions do not wait for it. */
      forMs: Optional(Type.Integer({ minimum: 1, maximum: YEAR_MS })),
    },
    Strict,
  ),
  scene: Type.Object({ type: Type.Literal("scene"), scene: DeviceId }, Strict),
  /** With `maxMs` a random time between both. */
  wait: Type.Object(
    { type: Type.Literal("wait"), ms: Duration, maxMs: Optional(Duration) },
    Strict,
  ),
  /** Changes a number evenly, such as the brightness of a lamp. It ends early if the device is switched off. */
  ramp: Type.Object(
    {
      type: Type.Literal("ramp"),
      device: DeviceId,
      field: Field,
      to: Type.Number(),
      ms: Type.Integer({ minimum: 1_000, maximum: DAY_MS }),
    },
    Strict,
  ),
  /** Sets a variable of this automation, or adds to it. It keeps its value from one run to the next. */
  variable: Type.Object(
    {
      type: Type.Literal("variable"),
      name: VariableName,
      set: Optional(Value),
      add: Optional(Type.Number()),
    },
    Strict,
  ),
  notify: Type.Object(
    {
      type: Type.Literal("notify"),
      message: Type.String({ minLength: 1, maxLength: 10_000 }),
      to: Optional(Type.Union([Name, Type.Array(Name, { minItems: 1, maxItems: 100 })])),
    },
    Strict,
  ),
} as const;
export type SimpleActionType = keyof typeof ACTIONS;
type SimpleAction = { [T in SimpleActionType]: Static<(typeof ACTIONS)[T]> }[SimpleActionType];

/** Waits for a trigger; the run continues after `timeoutMs` without it. */
export interface WaitForAction {
  readonly type: "waitFor";
  readonly trigger: Trigger;
  readonly timeoutMs: number;
}
export interface IfAction {
  readonly type: "if";
  readonly conditions: readonly Condition[];
  readonly then: readonly Action[];
  readonly else?: readonly Action[];
}
export type Action = SimpleAction | WaitForAction | IfAction;

/** An automation as a document. Its `id` and `revision` are not part of it. */
export interface AutomationDocument {
  readonly name: string;
  readonly description?: string;
  readonly enabled: boolean;
  readonly mode: Mode;
  readonly triggers: readonly Trigger[];
  readonly conditions: readonly Condition[];
  readonly actions: readonly Action[];
}
