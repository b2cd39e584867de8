import type { TestContext } from "node:test";
import type { CalendarChange } from "@mantel/plugin-sdk";
import { createStorage } from "../../../plugin-sdk/runtime/storage.ts";
import { findZone, UTC } from "../../../plugins/calendar/ics/zones.ts";
import type { Settings } from "../../../plugins/calendar/options.ts";
import { type DavAccountOptions, serveDavAccount } from "../../fakes/dav-account.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { calendar as calendarText, event as eventText } from "./calendar-text.ts";
import { openAccount } from "./open-account.ts";
import { openWriter } from "./open-writer.ts";

/** A weekly series of four in the calendar Work. */
const SERIES = calendarText(
  eventText(
    "UID:choir",
    "DTSTART:20260601T090000Z",
    "DURATION:PT1H",
    "RRULE:FREQ=WEEKLY;COUNT=4",
    "SUMMARY:choir",
  ),
).toString();
const SINGLE = calendarText(
  eventText("UID:zoo", "DTSTART:20260701T090000Z", "DTEND:20260701T100000Z", "SUMMARY:zoo"),
).toString();

/** A writer for the calendars Work and Home of a server that stores, and does wrong what the test says. */
export async function openFakeWriter(
  t: TestContext,
  options: DavAccountOptions = {},
  settings: Settings = {},
) {
  const server = await serveDavAccount(t, options);
  server.calendars.set("work", {
    name: "Work",
    objects: { "choir.ics": SERIES, "zoo.ics": SINGLE },
  });
  server.calendars.set("home", { name: "Home", objects: {} });
  const storage = createStorage(await emptyFolder(t), collectedLog());
  const { account, sources, titles } = openAccount({ ...settings, url: server.url }, storage);
  await account.refresh();
  const writing = {
    find: (id: string) => account.calendarOf(id),
    has: (id: string) => sources.has(id),
    publish: async () => {},
    zone: findZone("Europe/Berlin") ?? UTC,
    pausesMs: [1, 5, 20],
  };
  const { writer, unfinished } = openWriter(writing, storage);
  onTestEnd(t, async () => unfinished.close());
  const change = (some: CalendarChange) => writer.change(some);
  const storedIn = (calendar: string) =>
    Object.values(server.calendars.get(calendar)?.objects ?? {});
  return {
    ...{ server, storage, writing, account, sources, titles, writer, unfinished, change },
    /** Texts of the objects of a calendar. */
    storedIn,
    create: (title: string) =>
      change({
        action: "create",
        calendarId: "dav-home",
        fields: { title, start: { dateTime: "2026-07-01T09:00:00Z" } },
      }),
    rename: (title: string, scope: "this" | "following" | "all" = "all", event = SECOND) =>
      change({ action: "update", ...WORK, event, scope, fields: { title } }),
  };
}

export const WORK = { calendarId: "dav-work" } as const;
/** The second occurrence of the series. */
export const SECOND = "choir/2026-06-08T09:00:00Z";
export const ZOO = "zoo/2026-07-01T09:00:00Z";
