import { type Static, Type } from "typebox";
import { Cause } from "../cause.ts";
import { StateValue } from "../device.ts";
import { Nullable, Strict } from "../schema.ts";
import { defineService } from "../service.ts";

const Instant = Type.String({ format: "date-time" });
const DeviceId = Type.String({ minLength: 1, maxLength: 150 });
const Field = Type.String({
  minLength: 1,
  maxLength: 130,
  description:
    "a number or a yes-or-no of the device: `temperature`, `light.power`, `extra.linkQuality`",
});

/** The most points of one answer of `history.readings`. */
const MOST_POINTS = 2_000;

/** A field of a device in a span of time. */
export const ReadingsQuery = Type.Object(
  {
    device: DeviceId,
    field: Field,
    /** A day before `to` if absent. */
    from: Type.Optional(Instant),
    /** The present if absent. */
    to: Type.Optional(Instant),
    /** The most points; 500 if absent. */
    points: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_POINTS })),
  },
  Strict,
);
export type ReadingsQuery = Static<typeof ReadingsQuery>;

/** One point of a curve; it holds until the next. */
const HistoryPoint = Type.Object(
  {
    at: Instant,
    /** The value, or the mean over time if there are `min` and `max`; null while it is unknown. A yes is 1, a no 0. */
    value: Nullable(Type.Number()),
    min: Type.Optional(Type.Number()),
    max: Type.Optional(Type.Number()),
  },
  Strict,
);

/** The curve of a field, and the resolution of its points. */
export const HistoryReadings = Type.Object(
  {
    device: DeviceId,
    field: Field,
    unit: Nullable(Type.String()),
    /** Oldest first. The first one is at `from` if the value was known then. */
    points: Type.Array(HistoryPoint),
    /** The finest values that the points are made of: each report, or the statistics of five minutes or an hour. */
    resolution: Type.Enum(["raw", "5m", "1h"]),
  },
  Strict,
);
export type HistoryReadings = Static<typeof HistoryReadings>;

/** Returns a field of a device over time, with few points also for a year. */
export const historyReadings = defineService("history.readings", {
  title: "Read the history of a device",
  input: ReadingsQuery,
  output: HistoryReadings,
  open: "read",
  repeatable: true,
});

const STATISTICS_PERIODS = ["hour", "day", "week", "month"] as const;

/** A field of a device by period. */
export const StatisticsQuery = Type.Object(
  {
    device: DeviceId,
    field: Field,
    /** Thirty periods before `to` if absent. It counts from the begin of its period. */
    from: Type.Optional(Instant),
    /** The present if absent. */
    to: Type.Optional(Instant),
    /** In the time zone of the home; weeks begin on Monday. `day` if absent. */
    period: Type.Optional(Type.Enum([...STATISTICS_PERIODS])),
  },
  Strict,
);
export type StatisticsQuery = Static<typeof StatisticsQuery>;

const Statistic = Type.Object(
  {
    from: Instant,
    /** Exclusive. */
    to: Instant,
    /** Null, like the others, if the value was never known. */
    min: Nullable(Type.Number()),
    /** Weighted by time. */
    mean: Nullable(Type.Number()),
    max: Nullable(Type.Number()),
    /** The increase of a counter, also when it began again at 0; absent for other fields. */
    sum: Type.Optional(Nullable(Type.Number())),
  },
  Strict,
);

/** Minimum, mean and maximum of a field in each period, oldest first. */
export const HistoryStatistics = Type.Object(
  {
    device: DeviceId,
    field: Field,
    unit: Nullable(Type.String()),
    period: Type.Enum([...STATISTICS_PERIODS]),
    timeZone: Type.String(),
    statistics: Type.Array(Statistic),
  },
  Strict,
);
export type HistoryStatistics = Static<typeof HistoryStatistics>;

/** Returns minimum, mean and maximum of a field by hour, day, week or month. */
export const historyStatistics = defineService("history.statistics", {
  title: "Read statistics of a device",
  input: StatisticsQuery,
  output: HistoryStatistics,
  open: "read",
  repeatable: true,
});

/** Filters of the logbook. An entry has to match all of them. */
export const LogbookQuery = Type.Object(
  {
    room: Type.Optional(Type.String({ maxLength: 200 })),
    device: Type.Optional(DeviceId),
    /** A kind of causes, or one of them as `kind:id` or `kind:name`; anywhere in the chain. */
    cause: Type.Optional(Type.String({ minLength: 1, maxLength: 300 })),
    from: Type.Optional(Instant),
    to: Type.Optional(Instant),
    /** `next` of the previous answer. */
    cursor: Type.Optional(Type.String({ pattern: "^[0-9]{1,16}-[0-9]{1,16}$" })),
    /** 100 if absent. */
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
  },
  Strict,
);
export type LogbookQuery = Static<typeof LogbookQuery>;

/**
 * The kinds of entries. `failed` is a command that failed, `scene` an activation, `run` the end of a run of an automation,
 * and `record` an entry that a plugin wrote by `history.record`.
 */
const ENTRY_KINDS = [
  "state",
  "event",
  "availability",
  "added",
  "removed",
  "renamed",
  "failed",
  "scene",
  "run",
  "record",
] as const;

/** An event of the home, with its cause. */
export const LogbookEntry = Type.Object(
  {
    /** Unique, and greater for later entries. */
    id: Type.String(),
    at: Instant,
    kind: Type.Enum([...ENTRY_KINDS]),
    /** Absent for an entry that concerns no device. */
    device: Type.Optional(DeviceId),
    /** The name and the room of the device now, or when it was removed. */
    deviceName: Type.Optional(Type.String()),
    room: Type.Optional(Nullable(Type.String())),
    /**
     * The field, such as `on` or `light.on`; the name of an event; `available`, `added`, `removed`, `name`; the code of a
     * failed command; `ok`, `partial` or `failed` for a scene, which is the cause; `completed`, `stopped`, `failed` or
     * `cancelled` for a run, whose automation is the cause; or a text.
     */
    what: Type.String(),
    /** The value before it; of a failed command the command as JSON. */
    from: Type.Optional(StateValue),
    /** The new value; the data of an event as JSON; the reason of a failure in words. */
    to: Type.Optional(StateValue),
    /** The id of a run, for `history.runs`. */
    run: Type.Optional(Type.String()),
    cause: Cause,
  },
  Strict,
);
export type LogbookEntry = Static<typeof LogbookEntry>;

/** A page of the logbook. */
export const Logbook = Type.Object(
  {
    /** Newest first. */
    entries: Type.Array(LogbookEntry),
    /** The cursor of the next page; null on the last one. */
    next: Nullable(Type.String()),
  },
  Strict,
);
export type Logbook = Static<typeof Logbook>;

/** Returns what happened in the home, and why, newest first. */
export const historyLogbook = defineService("history.logbook", {
  title: "Read the logbook",
  input: LogbookQuery,
  output: Logbook,
  open: "read",
  repeatable: true,
});

/** An entry that a plugin writes into the logbook. */
export const HistoryRecord = Type.Object(
  {
    /** The event in one word, such as `backup.done`, or a sentence about it. */
    what: Type.String({ minLength: 1, maxLength: 500 }),
    device: Type.Optional(DeviceId),
    from: Type.Optional(StateValue),
    to: Type.Optional(StateValue),
    cause: Cause,
    /** The present if absent. */
    at: Type.Optional(Instant),
  },
  Strict,
);

/** Writes an entry into the logbook. */
export const historyRecord = defineService("history.record", {
  title: "Write into the logbook",
  input: HistoryRecord,
});
