import { type Static, Type } from "typebox";
import { permits } from "../../auth/scopes.ts";
import { TOPICS } from "../../events/sse.ts";
import type { ApiPaths } from "../../routes/api-paths.ts";
import { isAuthenticated, requireScope } from "../authenticate.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { StreamEvent } from "../event-schema.ts";
import { type Route, route } from "../route.ts";

/** The query, with the topics of plugins. */
const queryWith = (topics: readonly string[]) =>
  Type.Object({
    topics: Type.Optional(
      Type.Array(Type.Enum([...TOPICS, ...topics]), {
        description:
          "event types joined by commas; all but module.log if absent. channel {plugin, name, value, revision, updatedAt} brings the values of channels that the token may read, without an id; {plugin, name, removed: true} means that one is gone. device.event {deviceId, event, at, data?} reports a button press, for example: two equal ones are two events. device.state {device, cause, causes?} names who or what caused the change, and in causes by path the changed values with another cause, such as power or parts/light/on. command.failed {deviceId, at, command, error, cause?} reports a valid command that failed. scene.activated and scene.failed have the cause too. module.log needs the scope admin, and is neither numbered nor sent again",
      }),
    ),
    channels: Type.Optional(
      Type.Array(Type.String({ maxLength: 130 }), {
        maxItems: 500,
        description: "channels such as news/headlines, joined by commas; all if absent",
      }),
    ),
  });

/** `/events`: events of the home as they happen. */
export function eventRoutes({ streams, tokens, apiPaths, channels }: HttpDependencies): Route[] {
  let known: { readonly of: number; readonly query: ReturnType<typeof queryWith> } | undefined;
  return [
    route({
      method: "GET",
      path: "/events",
      operationId: "followEvents",
      scope: "read",
      tag: "Events",
      summary: "Follow events as server-sent events; a token may have 32 open streams",
      get query() {
        const of = apiPaths.changes;
        if (known?.of !== of) known = { of, query: queryWith(apiPaths.topics()) };
        return known.query;
      },
      headers: ["Last-Event-ID"],
      answers: {
        200: { description: "An endless stream", type: "text/event-stream", schema: StreamEvent },
      },
      errors: ["invalid", "insufficient_scope"],
      handle(ctx, { query, principal }) {
        if (query.topics?.includes("module.log")) requireScope(principal, "admin");
        ctx.type = "text/event-stream; charset=utf-8";
        ctx.set("X-Accel-Buffering", "no"); // nginx would buffer events
        ctx.status = 200;
        if (ctx.method === "HEAD") return;
        streams.open(ctx.res, {
          lastEventId: ctx.get("Last-Event-ID") || undefined,
          topics: query.topics && new Set(query.topics),
          channels: query.channels && new Set(query.channels),
          mayRead: (scope) => permits(principal.scope, scope),
          owner: principal.sub,
          permitted: () => isAuthenticated(ctx, tokens, principal),
        });
        const wanted = (plugin: string) => wantsChannels(query, { plugin, apiPaths });
        ctx.res.on("close", channels.demand.follow(channels.plugins(), wanted));
        ctx.respond = false; // The stream writes by itself from here on.
      },
    }),
  ];
}

/** True if a stream with this query brings values of a plugin's channels, under the topic `channel` or one of their own. */
function wantsChannels(
  { topics, channels }: Static<ReturnType<typeof queryWith>>,
  { plugin, apiPaths }: { readonly plugin: string; readonly apiPaths: ApiPaths },
): boolean {
  const wants = (topic: string) => topics?.includes(topic) ?? true;
  const follows = channels?.some((key) => key.startsWith(`${plugin}/`)) ?? true;
  if (follows && wants("channel")) return true;
  return apiPaths
    .channels()
    .some((each) => each.plugin === plugin && each.served.event && wants(each.served.event.topic));
}
