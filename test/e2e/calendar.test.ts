import assert from "node:assert/strict";
import { test } from "node:test";
import ICAL from "ical.js";
import { startHost } from "../helpers/host.ts";
import { startRadicale, withoutRadicale } from "../helpers/radicale.ts";
import { until } from "../helpers/until.ts";
import { calendar, event } from "../plugins/calendar/calendar-text.ts";

const TODAY = new Date().toISOString().slice(0, 10).replaceAll("-", "");

interface Answer {
  readonly events: { readonly title: string }[];
  readonly sources: { readonly id: string; readonly status: string; readonly error?: string }[];
}

test(
  "an account added at run time appears in the calendar and in the feed for phones",
  { skip: withoutRadicale },
  async (t) => {
    const { url, username, password, make, put } = await startRadicale(t);
    await make("work", { name: "Work" });
    const daily = [`DTSTART:${TODAY}T090000Z`, "RRULE:FREQ=DAILY;COUNT=3", "SUMMARY:standup"];
    await put("work/a.ics", calendar(event("UID:a", ...daily)).toString());
    const host = await startHost(t, { plugins: ["plugins/calendar"] });
    const change = (sources: object) =>
      host.api("/modules/calendar/config", { method: "PATCH", json: { sources } });
    const read = async () =>
      (await (await host.api("/calendar/events?limit=100")).json()) as Answer;
    const source = async (id: string) => (await read()).sources.find((each) => each.id === id);
    await until(async () => (await host.api("/health/ready")).ok, { withinMs: 20_000 });

    const account = { kind: "caldav", url, username, password: "wrong", allowPrivate: true };
    assert.equal((await change({ dav: account })).status, 200);
    await until(async () => (await source("dav"))?.error?.includes("401"), { withinMs: 20_000 });
    assert.equal((await change({ dav: { password } })).status, 200);
    await until(async () => (await source("dav-work"))?.status === "ok", { withinMs: 20_000 });
    assert.ok((await read()).events.some(({ title }) => title === "standup"));

    const made = await host.api("/calendar/feeds", { method: "POST", json: { name: "phone" } });
    const { path } = (await made.json()) as { path: string };
    const feed = await (await fetch(host.url + path)).text();
    const events = new ICAL.Component(ICAL.parse(feed) as unknown[]).getAllSubcomponents("vevent");
    assert.deepEqual(
      events.map((each) => each.getFirstPropertyValue("summary")),
      ["standup", "standup", "standup"],
    );
    const secret = path.split("/").at(-1)?.replace(".ics", "") ?? "";
    assert.doesNotMatch(host.log(), new RegExp(`${secret}|${password}`));
  },
);
