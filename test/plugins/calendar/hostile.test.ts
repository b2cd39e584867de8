import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import type { CalendarSource } from "@mantel/plugin-sdk";
import { startPlugin } from "@mantel/plugin-sdk/testing";
import plugin from "../../../plugins/calendar/index.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { until } from "../../helpers/until.ts";
import { calendar, event } from "./calendar-text.ts";

const TODAY = new Date().toISOString().slice(0, 10).replaceAll("-", "");
const GOOD = calendar(event("UID:a", `DTSTART;VALUE=DATE:${TODAY}`, "SUMMARY:zoo"));

async function serve(t: TestContext, listener: RequestListener) {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestEnd(t, async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The plugin with these sources, and a file that must stay readable beside them. */
async function start(t: TestContext, sources: Record<string, object>) {
  const folder = await emptyFolder(t);
  await writeFile(join(folder, "family.ics"), GOOD);
  const running = await startPlugin(plugin, {
    config: { refreshSeconds: 900, defaultDays: 14, sources },
    folders: { calendars: folder },
  });
  onTestEnd(t, async () => void (await running.stop()));
  return (id: string) =>
    running.published["calendar.window"]?.sources.find((each) => each.id === id);
}

const endless: RequestListener = (_, response) => {
  const more = () => {
    while (response.write(Buffer.alloc(100_000, "BEGIN:VEVENT\r\n")));
  };
  response.on("drain", more);
  more();
};

const HOSTILE: [id: string, listener: RequestListener, reason: RegExp][] = [
  ["endless", endless, /larger than 10 MB/],
  ["fifty", (_, response) => response.end(Buffer.alloc(50_000_000)), /larger than 10 MB/],
  [
    "bomb",
    (_, response) =>
      response
        .writeHead(200, { "content-encoding": "gzip" })
        .end(gzipSync(Buffer.alloc(50_000_000))),
    /larger than 10 MB/,
  ],
  [
    "loop",
    (_, response) => response.writeHead(302, { location: "/" }).end(),
    /redirects more than 5/,
  ],
  [
    "html",
    (_, response) => response.end("<!DOCTYPE html><p>Sign in"),
    /web page and not a calendar/,
  ],
  ["empty", (_, response) => response.end(), /not a calendar/],
  [
    "wrong",
    (_, response) => response.writeHead(401).end(),
    /user name and password \(401\): set them/,
  ],
  ["forbidden", (_, response) => response.writeHead(403).end(), /refuses access \(403\)/],
  ["gone", (_, response) => response.writeHead(410).end(), /is gone \(410\)/],
  ["broken", (request: IncomingMessage) => request.socket.destroy(), /cannot be reached/],
];

test("a hostile server affects only its own calendar, which gives the reason", async (t) => {
  const good = await serve(t, (_, response) => response.end(GOOD));
  const reasons = new Map<string, RegExp>([
    ...HOSTILE.map(([id, , reason]) => [id, reason] as const),
    ["inside", /private network: set allowPrivate/],
    ["nowhere", /nowhere\.invalid cannot be found/],
    ["missing", /there is no missing\.ics/],
  ]);
  const sources: Record<string, object> = {
    good: { url: good, allowPrivate: true },
    inside: { url: "http://localhost:1/" },
    nowhere: { url: "https://nowhere.invalid/" },
    missing: { name: "A file that is not there" },
  };
  for (const [id, listener] of HOSTILE) {
    sources[id] = { url: await serve(t, listener), allowPrivate: true };
  }

  const source = await start(t, sources);
  const ids = Object.keys(sources);
  await until(() => ids.every((id) => !source(id)?.error?.startsWith(NOT_READ_YET)), {
    withinMs: 20_000,
  });

  for (const [id, reason] of reasons) assertFault(source(id), reason);
  assert.deepEqual([source("good")?.status, source("family")?.status], ["ok", "ok"]);
});

const NOT_READ_YET = "it is being read for the first time";

function assertFault(source: CalendarSource | undefined, reason: RegExp): void {
  assert.equal(source?.status, "error", source?.id);
  assert.match(source?.error ?? "", reason);
}

test("hostile accounts also give the reason", async (t) => {
  const xml =
    (text: string): RequestListener =>
    (_, response) =>
      response.writeHead(207, { "content-type": "application/xml" }).end(text);
  const deep = "<a>".repeat(60_000) + "</a>".repeat(60_000);
  const cases: [id: string, listener: RequestListener, reason: RegExp][] = [
    ["html", (_, response) => response.end("<html>"), /no calendars were found at this address/],
    ["nothing", (_, response) => response.writeHead(404).end(), /no calendars were found/],
    ["junk", xml("<multistatus><junk/></multistatus>"), /no calendars were found/],
    ["cut", xml("<multistatus"), /ends in the middle/],
    ["deep", xml(`<multistatus>${deep}</multistatus>`), /no calendars were found/],
    ["masses", xml("<a/>".repeat(200_000)), /too many parts/],
    ["endless", endless, /larger than 10 MB/],
    ["wrong", (_, response) => response.writeHead(401).end(), /\(401\)/],
    ["busy", (_, response) => response.writeHead(503).end(), /status 503/],
    [
      "outside",
      xml(
        `<d:multistatus xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><d:response><d:href>/</d:href><d:propstat><d:prop><c:calendar-home-set><d:href>file:///etc/</d:href></c:calendar-home-set></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>`,
      ),
      /must begin with https/,
    ],
  ];
  const sources: Record<string, object> = {};
  for (const [id, listener] of cases) {
    const url = await serve(t, listener);
    sources[id] = { kind: "caldav", url, username: "ann", password: "pw", allowPrivate: true };
  }

  const source = await start(t, sources);
  const ids = cases.map(([id]) => id);
  await until(() => ids.every((id) => !source(id)?.error?.startsWith(NOT_READ_YET)), {
    withinMs: 20_000,
  });

  for (const [id, , reason] of cases) assertFault(source(id), reason);
  assert.equal(source("family")?.status, "ok");
});
