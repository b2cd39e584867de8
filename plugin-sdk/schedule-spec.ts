import { Type, type Static } from "typebox";
import { MantelError } from "./errors.ts";
import { Strict } from "./schema.ts";
import { nextCronTime } from "./time/cron.ts";

const YEAR_MS = 366 * 24 * 60 * 60 * 1000;

/** The times of a timer, as the host stores them. Dates are epoch milliseconds. */
export const ScheduleSpec = Type.Union([
  Type.Object({ kind: Type.Literal("at"), at: Type.Number() }, Strict),
  Type.Object(
    { kind: Type.Literal("every"), ms: Type.Integer({ minimum: 1_000, maximum: 10 * YEAR_MS }) },
    Strict,
  ),
  Type.Object(
    { kind: Type.Literal("cron"), expression: Type.String({ minLength: 1, maxLength: 200 }) },
    Strict,
  ),
  Type.Object(
    { kind: Type.Literal("after"), ms: Type.Integer({ minimum: 0, maximum: 10 * YEAR_MS }) },
    Strict,
  ),
]);
export type ScheduleSpec = Static<typeof ScheduleSpec>;

export const ScheduleName = Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9 ._:-]{0,99}$" });
export const MissedPolicy = Type.Enum(["skip", "once"]);

/** The input of `setSchedule`. */
export const SetRequest = Type.Object({
  name: ScheduleName,
  spec: ScheduleSpec,
  missed: MissedPolicy,
  isStart: Type.Boolean(),
});
/** The input of `cancelSchedule`. */
export const CancelRequest = Type.Object({ name: Type.String({ maxLength: 100 }) });
/** The input of `resumeSchedules`. */
export const Resumption = Type.Object({
  names: Type.Array(Type.String({ maxLength: 100 }), { maxItems: 10_000 }),
});

/** The first time of a timer that is set now. @throws MantelError `invalid` for a cron expression that never occurs */
export function firstTime(spec: ScheduleSpec, now: number, timeZone: string): number {
  if (spec.kind === "at") return spec.at;
  if (spec.kind !== "cron") return now + spec.ms;
  const next = nextCronTime(spec.expression, now, timeZone);
  if (next !== undefined) return next;
  throw new MantelError("invalid", `the cron expression ${spec.expression} never occurs`);
}

/** The time after `dueAt` that is later than `now`; `undefined` for a timer that runs once. */
export function timeAfter(
  spec: ScheduleSpec,
  { dueAt, now, timeZone }: { dueAt: number; now: number; timeZone: string },
): number | undefined {
  if (spec.kind === "every") {
    return dueAt + (Math.floor(Math.max(0, now - dueAt) / spec.ms) + 1) * spec.ms;
  }
  if (spec.kind !== "cron") return undefined;
  return nextCronTime(spec.expression, Math.max(now, dueAt), timeZone);
}
