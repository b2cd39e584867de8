import { MantelError } from "@mantel/plugin-sdk/errors";
import { Type } from "typebox";
import { recordCompleted } from "../../auth/audit.ts";
import { FeedAddress, FeedRequest } from "../../calendar/feed-addresses.ts";
import type { FeedFile } from "../../calendar/feed.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { matchesEtag } from "../etag.ts";
import { type Context, jsonAnswer, type Route, route } from "../route.ts";

type FeedDependencies = HttpDependencies & {
  readonly prefix: string;
};

const TYPE = "text/calendar";
const file = { 200: { description: "iCalendar (RFC 5545)", type: TYPE } } as const;
const Id = Type.Object({ id: Type.String({ pattern: "^[0-9a-f-]{36}$" }) });
const Secret = Type.Object({
  secret: Type.String({
    maxLength: 200,
    description: "the secret in the feed's address",
  }),
});

/** `/calendar/feed.ics` and `/calendar/feeds`: calendars for phones and other programs. */
export function calendarFeedRoutes(parts: FeedDependencies): Route[] {
  return [...readingRoutes(parts), ...managingRoutes(parts)];
}

function readingRoutes({ calendarFeed, feedAddresses }: FeedDependencies): Route[] {
  const send = async (ctx: Context) => sendFile(ctx, await calendarFeed.current());
  const shared = {
    method: "GET",
    tag: "Calendar",
    answers: file,
    headers: ["If-None-Match"],
    errors: ["service_unavailable"],
  } as const;
  return [
    route({
      ...shared,
      path: "/calendar/feed.ics",
      operationId: "getCalendarFile",
      scope: "read",
      summary: "Read all calendars as one iCalendar file",
      handle: send,
    }),
    route({
      ...shared,
      path: "/calendar/feeds/:secret.ics",
      operationId: "getCalendarFeed",
      scope: "public", // the secret in the path authorizes
      params: Secret,
      summary: "Read all calendars as one iCalendar file, by a feed address",
      errors: ["unauthorized", "service_unavailable"],
      handle(ctx, { params }) {
        if (feedAddresses.admits(params.secret)) return send(ctx);
        throw new MantelError("unauthorized", "unknown or revoked feed address");
      },
    }),
  ];
}

function sendFile(ctx: Context, { body, etag }: FeedFile): void {
  ctx.set("ETag", etag);
  ctx.set("Cache-Control", "private, no-cache");
  if (matchesEtag(ctx, etag)) {
    ctx.status = 304;
    return;
  }
  ctx.body = body;
  ctx.type = `${TYPE}; charset=utf-8`;
}

const managing = { scope: "admin", tag: "Calendar" } as const;

function managingRoutes(parts: FeedDependencies): Route[] {
  return [
    route({
      ...managing,
      method: "GET",
      path: "/calendar/feeds",
      operationId: "listCalendarFeeds",
      summary: "List feed addresses, without their secrets",
      answers: jsonAnswer("Oldest first", Type.Object({ feeds: Type.Array(FeedAddress) })),
      handle: () => ({ feeds: parts.feedAddresses.list() }),
    }),
    creatingRoute(parts),
    revokingRoute(parts),
  ];
}

function creatingRoute({ feedAddresses, prefix, ...parts }: FeedDependencies): Route {
  const schema = Type.Object({ feed: FeedAddress, path: Type.String() });
  return route({
    ...managing,
    method: "POST",
    path: "/calendar/feeds",
    operationId: "createCalendarFeed",
    summary: "Make a feed address, which needs no token",
    body: { schema: FeedRequest },
    answers: { 201: { description: "The feed; its address is shown only this once", schema } },
    errors: ["invalid", "disk_full"],
    async handle(ctx, { body, principal }) {
      const { feed, secret } = await feedAddresses.create(body);
      await recordCompleted(parts, principal, { action: "calendar.feed.create", feed: feed.id });
      ctx.status = 201;
      return { feed, path: `${prefix}/calendar/feeds/${secret}.ics` };
    },
  });
}

function revokingRoute({ feedAddresses, ...parts }: FeedDependencies): Route {
  return route({
    ...managing,
    method: "DELETE",
    path: "/calendar/feeds/:id",
    operationId: "revokeCalendarFeed",
    params: Id,
    summary: "Revoke a feed address",
    answers: { 204: { description: "The feed address is revoked" } },
    errors: ["not_found", "disk_full"],
    async handle(ctx, { params, principal }) {
      await feedAddresses.revoke(params.id);
      await recordCompleted(parts, principal, { action: "calendar.feed.revoke", feed: params.id });
      ctx.status = 204;
    },
  });
}
