import { type Static, Type } from "typebox";
import { Cause } from "../cause.ts";
import { Nullable, Strict } from "../schema.ts";
import { defineService } from "../service.ts";

const Instant = Type.String({ format: "date-time" });
const AutomationId = Type.String({ minLength: 1, maxLength: 150 });
const RunId = Type.String({ minLength: 1, maxLength: 100 });

/** The results of a run that has ended. `stopped`: its conditions were not met. */
const RUN_RESULTS = ["completed", "stopped", "failed", "cancelled"] as const;
const Result = Type.Enum([...RUN_RESULTS]);

/** The longest trace of a run, as JSON in UTF-16 code units. */
export const LONGEST_TRACE = 256 * 1_024;

const Trace = Type.Object(
  {},
  { additionalProperties: true, description: "all that happened in the run" },
);

const RunFields = {
  /** Unique among all runs. */
  id: RunId,
  startedAt: Instant,
  endedAt: Instant,
  result: Result,
  /** The reason of a failed or stopped run in words. */
  error: Type.Optional(Type.String({ maxLength: 1_000 })),
  /** The automation as a cause, with the cause of its trigger in `parent`. */
  cause: Cause,
};

/** A run of an automation that has ended, with its trace. */
export const HistoryRun = Type.Object({ ...RunFields, trace: Trace }, Strict);
export type HistoryRun = Static<typeof HistoryRun>;

/**
 * Keeps a run of an automation, and writes it into the logbook. A run with an id that is known replaces the earlier one.
 * At most 60 runs of an automation are kept in a minute.
 */
export const historyRun = defineService("history.run", {
  title: "Keep a run of an automation",
  input: HistoryRun,
});

/** Filters of runs. A run has to match all of them. */
export const RunsQuery = Type.Object(
  {
    /** One run. */
    id: Type.Optional(RunId),
    automation: Type.Optional(AutomationId),
    result: Type.Optional(Result),
    /** The begin of a span in which the runs started. */
    from: Type.Optional(Instant),
    to: Type.Optional(Instant),
    /** True to get the traces, too. A page with traces has fewer runs than `limit` if they are long. */
    traces: Type.Optional(Type.Boolean()),
    /** `next` of the previous answer. */
    cursor: Type.Optional(Type.String({ pattern: "^[0-9]{1,16}-[0-9]{1,16}$" })),
    /** 50 if absent. */
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500 })),
  },
  Strict,
);
export type RunsQuery = Static<typeof RunsQuery>;

/** A page of runs. */
export const HistoryRuns = Type.Object(
  {
    /** Newest start first. */
    runs: Type.Array(
      Type.Object(
        {
          ...RunFields,
          automation: AutomationId,
          /** The name of the automation then. */
          name: Type.String(),
          trace: Type.Optional(Trace),
        },
        Strict,
      ),
    ),
    /** The number of runs of the whole query by their result, on all pages. */
    counts: Type.Object(
      {
        completed: Type.Integer(),
        stopped: Type.Integer(),
        failed: Type.Integer(),
        cancelled: Type.Integer(),
      },
      Strict,
    ),
    /** The cursor of the next page; null on the last one. */
    next: Nullable(Type.String()),
  },
  Strict,
);
export type HistoryRuns = Static<typeof HistoryRuns>;

/** Returns runs of automations that have ended, newest first. */
export const historyRuns = defineService("history.runs", {
  title: "Read the runs of automations",
  input: RunsQuery,
  output: HistoryRuns,
  open: "read",
  repeatable: true,
});
