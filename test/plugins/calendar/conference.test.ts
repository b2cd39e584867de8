import assert from "node:assert/strict";
import { test } from "node:test";
import { conferenceIn } from "../../../plugins/calendar/ics/conference.ts";
import { calendar, event } from "./calendar-text.ts";
import { expand } from "./expand.ts";

async function conferenceOf(...lines: string[]) {
  const { events } = await expand(calendar(event("UID:a", "DTSTART:20260601T090000Z", ...lines)));
  return events[0]?.conference;
}

test("CONFERENCE is the meeting of an event, first one with video, and never a phone number", async () => {
  const phone = "CONFERENCE;VALUE=URI;FEATURE=PHONE:tel:+1-412-555-0123";
  const chat = "CONFERENCE;VALUE=URI;FEATURE=CHAT:https://chat.example/room";
  const video = 'CONFERENCE;VALUE=URI;FEATURE="AUDIO,VIDEO";LABEL=Video:https://video.example/a;b';
  const google = "X-GOOGLE-CONFERENCE:https://meet.google.com/abc-defg-hij";

  assert.equal(await conferenceOf(phone, google, chat, video), "https://video.example/a;b");
  assert.equal(await conferenceOf(phone, google, chat), "https://chat.example/room");
  assert.equal(await conferenceOf(phone, google), "https://meet.google.com/abc-defg-hij");
  assert.equal(await conferenceOf(phone, "CONFERENCE:javascript:alert(1)"), undefined);
  assert.equal(await conferenceOf("CONFERENCE broken"), undefined);
});

test("links of known services are found in the address, the place and the description", async () => {
  const zoom = "https://us02web.zoom.us/j/123?pwd=a.b";
  const teams =
    "https://teams.microsoft.com/l/meetup-join/19%3ameeting_x%40thread.v2/0?context=%7b%7d";

  assert.equal(await conferenceOf(`URL:${zoom}`, `LOCATION:${teams}`), zoom);
  assert.equal(await conferenceOf(`LOCATION:Room 1 (${teams})\\, upstairs`), teams);
  assert.equal(
    await conferenceOf(
      "DESCRIPTION:Notes: https://docs.example/1\\nJoin <https://meet.jit.si/Our_Room>.",
    ),
    "https://meet.jit.si/Our_Room",
  );
});

test("only addresses of meetings count, and not other pages of the services or similar names", () => {
  const find = (text: string) => conferenceIn([], [text]);
  const meetings = [
    "https://zoom.us/j/1",
    "https://teams.live.com/meet/93",
    "https://meet.google.com/abc-defg-hij",
    "https://jitsi.club.example/Choir",
    "https://8x8.vc/club/choir",
  ];
  const others = [
    "https://zoom.us/download",
    "https://zoom.us.evil.example/j/1",
    "https://evilzoom.us/j/1",
    "https://meet.google.com/",
    "https://teams.microsoft.com/l/channel/1",
    "https://example.org/?next=https://zoom.us/j/1",
    "http://[zoom.us/j/1",
  ];

  assert.deepEqual(meetings.map(find), meetings);
  assert.deepEqual(
    others.filter((text) => find(text) !== null),
    [],
  );
  assert.equal(find(`see ${meetings[0]}, or call`), meetings[0]);
  assert.equal(find(`https://zoom.us/j/${"1".repeat(2_000)}`), null);
});
