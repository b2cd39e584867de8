import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type OutgoingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import {
  makeAuthority,
  makeServerPair,
  readAuthority,
} from "../../scripts/certificate/authority.ts";
import { type DavAccountOptions, serveDavAccount } from "../fakes/dav-account.ts";
import { emptyFolder } from "../helpers/folder.ts";
import { startHost } from "../helpers/host.ts";
import { onTestEnd } from "../helpers/on-test-end.ts";
import { until } from "../helpers/until.ts";
import { calendar, event } from "../plugins/calendar/calendar-text.ts";

const TODAY = new Date().toISOString().slice(0, 10).replaceAll("-", "");
const at = (zone: string) => `DTSTART;TZID=${zone}:${TODAY}T120000`;
const IN_TIME = { withinMs: 20_000 };

interface Answer {
  readonly events?: readonly {
    readonly title: string;
    readonly start: { readonly dateTime?: string; readonly timeZone?: string };
  }[];
  readonly sources?: readonly {
    readonly id: string;
    readonly status: string;
    readonly error?: string;
  }[];
}

/** An address that answers every request alike. */
async function serveText(t: TestContext, headers: OutgoingHttpHeaders, body: Buffer) {
  const server = createServer((_, response) => response.writeHead(200, headers).end(body));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestEnd(t, async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/calendar/ical/private-x/basic.ics`;
}

async function serveAccount(t: TestContext, title: string, options?: DavAccountOptions) {
  const account = await serveDavAccount(t, options);
  const objects = {
    "1 a.ics": calendar(event(`UID:${title}`, at("Europe/Berlin"), `SUMMARY:${title}`)).toString(),
  };
  account.calendars.set("home", { name: "Home", objects });
  return account;
}

test("calendars are read from servers that answer like the large providers", async (t) => {
  const google = await serveText(
    t,
    {
      "content-type": "text/calendar; charset=UTF-8",
      "cache-control": "no-cache, no-store, max-age=0, must-revalidate",
      expires: "Mon, 01 Jan 1990 00:00:00 GMT",
    },
    calendar(
      "X-WR-CALNAME:ann@example.com",
      "X-WR-TIMEZONE:Europe/Berlin",
      event("UID:g", `DTSTART:${TODAY}T120000Z`, "SUMMARY:Grüße von Google"),
      event("UID:h", `DTSTART:${TODAY}T120000`, "SUMMARY:without a zone"),
    ),
  );
  const outlook = await serveText(
    t,
    { "content-type": "text/calendar; charset=utf-8" },
    calendar(
      "METHOD:PUBLISH",
      "X-WR-TIMEZONE:W. Europe Standard Time",
      event("UID:o", at("W. Europe Standard Time"), "SUMMARY:by name"),
      event("UID:p", at('"(UTC+01:00) Amsterdam, Berlin"'), "SUMMARY:by cities"),
      event("UID:q", `DTSTART:${TODAY}T120000`, "SUMMARY:by calendar"),
    ),
  );
  const icloud = await serveAccount(t, "of iCloud", {
    cdata: true,
    prefixes: { d: "", c: "C:", cs: "A-1:" },
  });
  const authority = makeAuthority([], new Date());
  const authorityFile = join(await emptyFolder(t), "authority.pem");
  await writeFile(authorityFile, authority.cert);
  const secure = makeServerPair(readAuthority(authority), ["127.0.0.1"], new Date());
  const nextcloud = await serveAccount(t, "of Nextcloud at home", { secure });
  const fastmail = await serveAccount(t, "of Fastmail");
  fastmail.intervene = () => ({
    status: 401,
    headers: {
      "content-type": "text/plain",
      "www-authenticate": 'Basic realm="Use an app password"',
    },
    body: "Incorrect username, password or access token",
  });
  const env = { NODE_EXTRA_CA_CERTS: authorityFile };
  const host = await startHost(t, { plugins: ["plugins/calendar"], env });
  const account = (url: string) => ({
    kind: "caldav",
    url,
    username: "ann",
    password: "secret",
    allowPrivate: true,
  });
  const sources = {
    google: { url: google, allowPrivate: true },
    outlook: { url: outlook, allowPrivate: true },
    icloud: account(icloud.url),
    nextcloud: account(nextcloud.url),
    fastmail: account(fastmail.url),
  };

  await until(async () => (await host.api("/health/ready")).ok, IN_TIME);
  const change = await host.api("/modules/calendar/config", { method: "PATCH", json: { sources } });
  assert.equal(change.status, 200);
  const day = TODAY.replace(/(....)(..)(..)/, "$1-$2-$3");
  const read = async () =>
    (await (await host.api(`/calendar/events?start=${day}&tz=Europe/Berlin`)).json()) as Answer;
  const { sources: states, events } = await until(async () => {
    const answer = await read();
    const isDone = answer.sources?.every(({ id, status }) => status === "ok" || id === "fastmail");
    return isDone && answer.sources?.some(({ error }) => error?.includes("401")) && answer;
  }, IN_TIME);

  const found = events?.map(({ title, start }) => [
    title,
    start.timeZone,
    start.dateTime?.slice(11, 19),
  ]);
  assert.deepEqual(found?.toSorted(), [
    ["Grüße von Google", "UTC", "12:00:00"],
    ["by calendar", "Europe/Berlin", "12:00:00"],
    ["by cities", "Europe/Amsterdam", "12:00:00"],
    ["by name", "Europe/Berlin", "12:00:00"],
    ["of Nextcloud at home", "Europe/Berlin", "12:00:00"],
    ["of iCloud", "Europe/Berlin", "12:00:00"],
    ["without a zone", "Europe/Berlin", "12:00:00"],
  ]);
  assert.deepEqual(states?.map(({ id, error }) => [id, error]).toSorted(), [
    [
      "fastmail",
      "the server does not accept the user name and password (401): set them again; some providers want an app password",
    ],
    ["google", undefined],
    ["icloud-home", undefined],
    ["nextcloud-home", undefined],
    ["outlook", undefined],
  ]);
  assert.doesNotMatch(host.log(), /secret|private-x/);
});
