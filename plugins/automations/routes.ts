import { defineRoute, Type } from "@mantel/plugin-sdk";
import type { TSchema } from "typebox";

const Instant = Type.String({ format: "date-time" });
const Id = Type.Object({ id: Type.String({ maxLength: 200 }) });
const Strict = { additionalProperties: false } as const;
const Open = { additionalProperties: true } as const;

const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

const View = {
  id: Type.String(),
  name: Type.String(),
  kind: Type.Enum(["document", "code"]),
  enabled: Type.Boolean(),
  offUntil: Type.Optional(
    Type.String({
      format: "date-time",
      description: "the instant at which it is switched on again, if it is off for a time",
    }),
  ),
  state: Type.Enum(["idle", "running", "disabled", "paused", "failed"]),
  lastRun: Nullable(
    Type.Object({
      id: Type.String(),
      startedAt: Instant,
      endedAt: Nullable(Instant),
      result: Type.Enum(["running", "completed", "stopped", "failed", "cancelled"]),
    }),
  ),
  error: Nullable(Type.String()),
};
const Parts = Type.Array(Type.Object({ type: Type.String() }, Open));
const Body = Type.Object(
  {},
  {
    ...Open,
    description:
      "`{name, description?, enabled?, mode?, triggers, conditions?, actions}`; see the guide to automations",
  },
);
const Document = Type.Object(
  {
    id: Type.String(),
    kind: View.kind,
    revision: Type.Optional(Type.Integer()),
    name: Type.String(),
    enabled: Type.Boolean(),
    description: Type.Optional(Type.String()),
    mode: Type.Enum(["single", "restart", "queued", "parallel"]),
    triggers: Parts,
    conditions: Parts,
    actions: Type.Optional(Parts),
  },
  Open,
);
const Trace = Type.Object(
  { id: Type.String(), automation: Type.String(), startedAt: Instant, result: Type.String() },
  Open,
);
const Paused = Nullable(
  Type.Object(
    { until: Nullable(Instant) },
    { description: "`until` is null if they stay off until they are resumed" },
  ),
);
const Span = Type.Object(
  { forMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 31_622_400_000 })) },
  Strict,
);
const Pause = Type.Object({ paused: Paused });
const IF_MATCH = ["if-match"];

export const list = defineRoute({
  method: "GET",
  at: "/automations",
  scope: "read",
  summary: "List all automations",
  response: Type.Object({ automations: Type.Array(Type.Object(View)), paused: Paused }),
});
export const create = defineRoute({
  method: "POST",
  at: "/automations",
  scope: "edit",
  summary: "Create an automation",
  body: Body,
  response: Document,
});
export const read = defineRoute({
  method: "GET",
  at: "/automations/:id",
  scope: "read",
  summary: "Read an automation",
  params: Id,
  response: Document,
});
export const shownAsCode = defineRoute({
  method: "GET",
  at: "/automations/:id/code",
  scope: "read",
  summary: "Show a document as the source text of a file",
  params: Id,
  response: Type.Object({ code: Type.String() }),
});
export const replace = defineRoute({
  method: "PUT",
  at: "/automations/:id",
  scope: "edit",
  summary: "Replace an automation",
  params: Id,
  headers: IF_MATCH,
  body: Body,
  response: Document,
});
export const remove = defineRoute({
  method: "DELETE",
  at: "/automations/:id",
  scope: "edit",
  summary: "Delete an automation",
  params: Id,
  headers: IF_MATCH,
});
export const run = defineRoute({
  method: "POST",
  at: "/automations/:id/run",
  scope: "control",
  summary: "Run an automation now, without its conditions",
  params: Id,
  response: Type.Object({ run: Type.String() }),
});
export const enable = defineRoute({
  method: "POST",
  at: "/automations/:id/enable",
  scope: "edit",
  summary: "Switch an automation on",
  params: Id,
  headers: IF_MATCH,
  response: Document,
});
export const disable = defineRoute({
  method: "POST",
  at: "/automations/:id/disable",
  scope: "edit",
  summary: "Switch an automation off, for a time or until it is switched on; its runs end",
  params: Id,
  headers: IF_MATCH,
  body: Span,
  bodyOptional: true,
  response: Document,
});
export const traces = defineRoute({
  method: "GET",
  at: "/automations/:id/traces",
  scope: "read",
  summary: "Read the last runs of an automation, newest first",
  params: Id,
  response: Type.Object({ traces: Type.Array(Trace) }),
});
export const history = defineRoute({
  method: "GET",
  at: "/automations/:id/history",
  scope: "read",
  summary: "List the last revisions of an automation",
  params: Id,
  response: Type.Object({
    revisions: Type.Array(
      Type.Object({ revision: Type.Integer(), savedAt: Instant, name: Type.String() }),
    ),
  }),
});
export const restore = defineRoute({
  method: "POST",
  at: "/automations/:id/restore/:revision",
  scope: "edit",
  summary: "Restore a previous revision of an automation",
  params: Type.Object({ ...Id.properties, revision: Type.String({ pattern: "^[0-9]{1,9}$" }) }),
  headers: IF_MATCH,
  response: Document,
});
export const pause = defineRoute({
  method: "POST",
  at: "/automations/pause",
  scope: "control",
  summary: "Switch all automations off, for a time or until they are resumed; their runs end",
  body: Span,
  response: Pause,
});
export const resume = defineRoute({
  method: "POST",
  at: "/automations/resume",
  scope: "control",
  summary: "Switch all automations on again",
  response: Pause,
});
export const simulated = defineRoute({
  method: "POST",
  at: "/automations/simulate",
  scope: "read",
  summary: "Simulate an automation with the recorded past, or in a demo home",
  body: Type.Object(
    {
      id: Type.Optional(Type.String({ maxLength: 200 })),
      document: Type.Optional(Body),
      /** A day before `to` if absent. */
      from: Type.Optional(Instant),
      /** The present if absent. */
      to: Type.Optional(Instant),
      source: Type.Optional(Type.Enum(["recorded", "demo"])),
    },
    Strict,
  ),
  response: Type.Object(
    {
      from: Instant,
      to: Instant,
      source: Type.Enum(["recorded", "demo"]),
      runs: Type.Array(Trace),
      timeline: Type.Array(Type.Object({ at: Instant, kind: Type.String() }, Open)),
      recorded: Type.Array(
        Type.Object({
          at: Instant,
          device: Type.String(),
          field: Type.String(),
          value: Type.Unknown(),
        }),
        { description: "the values that the commanded fields really had" },
      ),
      truncated: Type.Boolean(),
    },
    Open,
  ),
});
export const webhooks = defineRoute({
  method: "GET",
  at: "/automations/webhooks",
  scope: "edit",
  summary: "Read the secret path of webhooks, to which the name of a trigger is appended",
  response: Type.Object({ path: Type.String() }),
});
export const called = defineRoute({
  method: "POST",
  path: "/automations/:name",
  scope: "public",
  summary: "Start the automations with a webhook of this name; they get the body",
  params: Type.Object({ name: Type.String({ pattern: "^[a-z0-9][a-z0-9-]{0,59}$" }) }),
  raw: true,
  secretInPath: true,
});
