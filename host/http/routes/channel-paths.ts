import { MantelError } from "@mantel/plugin-sdk/errors";
import { Nullable } from "@mantel/plugin-sdk/schema";
import { type TSchema, Type } from "typebox";
import type { ChannelPath } from "../../routes/api-paths.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { sendRevision } from "../etag.ts";
import type { EventSchemas } from "../event-schema.ts";
import { operationIdOf, type Route, route } from "../route.ts";

/** The time after which a client may ask again for a value that was not published yet. */
const FIRST_VALUE_MS = 1_000;

type Parts = Pick<HttpDependencies, "channels" | "apiPaths">;

/** The data of the events that channels with a path have, by topic. */
export function contributedEvents({ channels, apiPaths }: Parts): EventSchemas {
  const all = apiPaths.channels().flatMap(({ plugin, served: { channel, event } }) => {
    if (!event) return [];
    const schema: TSchema = channels.find(plugin, channel)?.declared.schema ?? Type.Unknown();
    return [[event.topic, picked(schema, event.fields)] as const];
  });
  return Object.fromEntries(all);
}

/** The schema of an event with these fields of a value; all if absent. */
function picked(value: TSchema, fields: readonly string[] | undefined): TSchema {
  return fields && Type.IsObject(value) ? Type.Pick(value, [...fields]) : value;
}

/** The routes at which plugins' channels are served; the same list until a path or a channel changes. */
export function channelPathRoutes(parts: Parts): () => readonly Route[] {
  const { channels, apiPaths } = parts;
  let known: { readonly of: string; readonly routes: readonly Route[] } | undefined;
  return () => {
    const of = `${apiPaths.changes} ${channels.changes}`;
    if (known?.of !== of)
      known = { of, routes: apiPaths.channels().map((each) => routeOf(each, parts)) };
    return known.routes;
  };
}

function routeOf({ path, plugin, served }: ChannelPath, { channels }: Parts): Route {
  const { channel: name, field, maxAgeSeconds } = served;
  const { declared } = channels.find(plugin, name) ?? {};
  /** The bytes of the last answer, and its value. */
  let sent: { readonly of: object | undefined; readonly bytes: Buffer } | undefined;
  const answer = { description: `The last value of the channel ${plugin}/${name}` };
  return route({
    method: "GET",
    path,
    operationId: operationIdOf("GET", path),
    scope: declared?.scope ?? "read",
    tag: "Plugins",
    summary: `Read ${declared?.title ?? `${plugin}/${name}`}`,
    headers: ["If-None-Match"],
    answers: { 200: { ...answer, schema: answerSchema(declared?.schema, field) } },
    ...(field === undefined && { errors: ["service_unavailable"] }),
    async handle(ctx) {
      await channels.demand.whenCurrent(plugin);
      const { current } = channels.find(plugin, name) ?? {};
      if (!current && field === undefined) throw noValue(path, plugin);
      const cacheControl =
        maxAgeSeconds === undefined ? undefined : `private, max-age=${maxAgeSeconds}`;
      const body = () => {
        if (sent?.of === current && sent) return sent.bytes;
        const json = current?.json ?? "null";
        const text = field === undefined ? json : `{"${field}":${json}}`;
        sent = { of: current, bytes: Buffer.from(text) };
        return sent.bytes;
      };
      sendRevision(ctx, current?.revision ?? 0, body, cacheControl);
    },
  });
}

function answerSchema(value: TSchema = Type.Unknown(), field: string | undefined): TSchema {
  return field === undefined ? value : Type.Object({ [field]: Nullable(value) });
}

function noValue(path: string, plugin: string): MantelError {
  const sentence = `${plugin} has published nothing for ${path}; see the modules, or try again soon`;
  return new MantelError("service_unavailable", sentence, { retryAfterMs: FIRST_VALUE_MS });
}
