import assert from "node:assert/strict";
import { test } from "node:test";
import { conferenceIn } from "../../../plugins/calendar/ics/conference.ts";
import { htmlText, isHtml } from "../../../plugins/calendar/ics/html-text.ts";
import { cpuMsOf } from "../../helpers/cpu-time.ts";
import { calendar, event } from "./calendar-text.ts";
import { expand } from "./expand.ts";

async function eventWith(...lines: string[]) {
  const { events } = await expand(calendar(event("UID:a", "DTSTART:20260601T090000Z", ...lines)));
  return events[0] ?? assert.fail("the event is missing");
}

test("paragraphs, lines and lists stay, and links have their addresses", () => {
  const html = `<html><head><title>Mail</title><style>p { color: red }</style></head><body>
    <p>Dear   all,<br>bring <b>cake</b> &amp; tea&nbsp;&ndash; f&uuml;r alle&#33;&#x1F382;</p>
    <!-- <p>hidden</p> -->
    <ul><li>Menu: <a class=x href="https://food.example/?a=1&amp;b=2">here</a></li>
    <li><a href='https://map.example/'>map.example</a></li><li><a href="javascript:x()">no</a></li></ul>
    <script>alert("<p>")</script><a href=https://last.example></a></body></html>`;

  assert.equal(
    htmlText(html),
    [
      "Dear all,",
      "bring cake & tea – für alle!🎂",
      "",
      "- Menu: here (https://food.example/?a=1&b=2)",
      "- map.example",
      "- no",
      "https://last.example",
    ].join("\n"),
  );
});

test("blocks begin lines of their own, and an empty one is an empty line", () => {
  const gmail = "<div>One</div><div>two</div><div><br></div><div>three<br>four</div>";
  const table = "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>";

  assert.equal(htmlText(gmail), "One\ntwo\n\nthree\nfour");
  assert.equal(htmlText(table), "a b\nc");
});

test("text that only looks like HTML is not changed", () => {
  for (const text of ["1 < 2 > 0", "Ann <ann@example.org>", "<https://a.example>", "Tom &amp; Ann"])
    assert.equal(isHtml(text), false, text);
  assert.equal(htmlText("a < b <i>c</i> &unknown; &#0;&#xd800;&#9999999;"), "a < b c &unknown;");
});

test("broken and hostile HTML is read in a short time", () => {
  const hostile = [
    "<!--",
    "<a ",
    "<script>",
    "<",
    "&",
    "<a href=x>",
    "<a href=http://x>y",
    " ",
    "\n",
    "<p>",
    "<b> ",
    "İ</title",
  ];
  for (const part of hostile) {
    const text = part.repeat(100_000);
    assert.ok(cpuMsOf(() => [htmlText(text), isHtml(text)]) < 1_000, part);
  }
  assert.equal(htmlText("İ<STYLE>x</Style>y<b"), "İy");
});

test("a row of dots after an address takes no time", () => {
  const link = `https://${".".repeat(49_000)}x`;

  assert.ok(cpuMsOf(() => conferenceIn([], [link])) < 1_000);
});

test("a description in HTML becomes text, and its meeting is found", async () => {
  const google = 'DESCRIPTION:See you<br><a href="https://zoom.us/j/1?a=1&amp\\;b=2">Join</a>';
  const { description, conference } = await eventWith(google);

  assert.equal(description, "See you\nJoin (https://zoom.us/j/1?a=1&b=2)");
  assert.equal(conference, "https://zoom.us/j/1?a=1&b=2");
});

test("lines of a description stay if the tags in it are only of letters and links", async () => {
  const { description } = await eventWith("DESCRIPTION:One\\n<b>two</b>\\nthree");

  assert.equal(description, "One\ntwo\nthree");
});

test("a description that is only in HTML is shown, and one beside it is not needed", async () => {
  const styled = "X-ALT-DESC;FMTTYPE=text/html:<html>\\n<p>Room 1\\, upstairs</p></html>";
  const rfc = "STYLED-DESCRIPTION;VALUE=TEXT;FMTTYPE=text/html:<p>Room 2\\, upstairs</p>";

  assert.equal((await eventWith(styled)).description, "Room 1, upstairs");
  assert.equal((await eventWith(rfc)).description, "Room 2, upstairs");
  assert.equal((await eventWith(styled, "DESCRIPTION:Plain")).description, "Plain");
  assert.equal((await eventWith("X-ALT-DESC broken", "SUMMARY:a")).description, null);
});
