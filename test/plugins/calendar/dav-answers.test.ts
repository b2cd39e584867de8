import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createStorage } from "../../../plugin-sdk/runtime/storage.ts";
import {
  type DavAccountOptions,
  type DavReply,
  type DavRequest,
  serveDavAccount,
} from "../../fakes/dav-account.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { calendar, event } from "./calendar-text.ts";
import { openAccount } from "./open-account.ts";

const object = (title: string, ...more: string[]) =>
  calendar(
    event(`UID:${title}`, "DTSTART:20260601T090000Z", `SUMMARY:${title}`, ...more),
  ).toString();

/** An account with one calendar of these objects, which was read once. */
async function setUp(t: TestContext, objects: Record<string, string>, options?: DavAccountOptions) {
  const server = await serveDavAccount(t, options);
  const work = { name: "Work", objects };
  server.calendars.set("work", work);
  const opened = openAccount(
    { url: server.url },
    createStorage(await emptyFolder(t), collectedLog()),
  );
  await opened.account.refresh();
  return { ...opened, server, work };
}

const DIALECTS: [what: string, options: DavAccountOptions][] = [
  ["no prefix for DAV", { prefixes: { d: "", c: "C-1:", cs: "n0:" } }],
  ["strange prefixes", { prefixes: { d: "ns1.x:", c: "_0:", cs: "CS:" } }],
  ["objects as CDATA, as iCloud has them", { cdata: true }],
];

for (const [what, options] of DIALECTS) {
  test(`a server with ${what} is understood`, async (t) => {
    const objects = {
      "a b.ics": object("a > b ]]> & <c>"),
      "long.ics": object("long", `DESCRIPTION:${"x".repeat(200_000)}`, "LOCATION:at its end"),
    };

    const { sources, titles } = await setUp(t, objects, options);

    assert.deepEqual(await titles(), ["a > b ]]> & <c>", "long"]);
    assert.deepEqual(
      [...sources.values()].map((source) => source.view().error),
      [undefined],
    );
  });
}

test("a refusal by which Google means that it is asked too often keeps the events, and says so", async (t) => {
  const { server, account, sources, titles } = await setUp(t, { "a.ics": object("here") });
  const body = '{"error":{"errors":[{"domain":"usageLimits","reason":"userRateLimitExceeded"}]}}';
  server.intervene = () => ({ status: 403, body });

  await account.refresh();

  const [source] = sources.values();
  assert.match(source?.view().error ?? "", /asked too often: try again later/);
  assert.equal(source?.view().status, "stale");
  assert.deepEqual(await titles(), ["here"]);
});

const PAGE = {
  status: 200,
  headers: { "content-type": "text/html" },
  body: "<html>Sign in</html>",
};
const CUT = { status: 207, body: '<d:multistatus xmlns:d="DAV:"><d:response><d:href>/home/wo' };
const asks = (word: string) => (request: DavRequest) => request.body.includes(word);
const isAt = (path: string) => (request: DavRequest) => request.path === path;

const NO_ANSWERS: [
  what: string,
  when: (request: DavRequest) => boolean,
  reply: DavReply,
  told: RegExp,
][] = [
  ["a page in place of what has changed", isAt("/home/work/"), PAGE, /is a web page/],
  ["a page in place of the calendars", isAt("/home/"), PAGE, /is a web page/],
  ["half of what has changed", isAt("/home/work/"), CUT, /ends in the middle/],
  ["half of the calendars", isAt("/home/"), CUT, /ends in the middle/],
  ["half of the objects", asks("multiget"), CUT, /ends in the middle/],
  ["no more room", isAt("/home/work/"), { status: 507 }, /status 507/],
];

for (const [what, when, reply, told] of NO_ANSWERS) {
  test(`a server that gives ${what} removes no event, and it is reported`, async (t) => {
    const { account, sources, titles, server, work } = await setUp(t, { "a.ics": object("zoo") });

    work.objects = { ...work.objects, "b.ics": object("park") };
    server.intervene = (request) => (when(request) ? reply : undefined);
    await account.refresh();

    const { status, error } = sources.get("dav-work")?.view() ?? {};
    assert.equal(status, "stale");
    assert.match(error ?? "", told);
    assert.deepEqual(await titles(), ["zoo"]);
    server.intervene = () => undefined;
    await account.refresh();
    assert.deepEqual(await titles(), ["park", "zoo"]);
  });
}

test("a server that has forgotten its token, reported like Nextcloud, is read completely", async (t) => {
  const { account, titles, server, work } = await setUp(t, { "a.ics": object("zoo") });

  work.objects = { "b.ics": object("park") };
  const error = `<d:error xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns"><s:exception>Sabre\\DAV\\Exception\\InvalidSyncToken</s:exception><d:valid-sync-token/></d:error>`;
  server.intervene = ({ body }) =>
    /sync-token>[^<]/.test(body) ? { status: 403, body: error } : undefined;
  await account.refresh();

  assert.deepEqual(await titles(), ["park"]);
});

test("a change list cut by the server's limit is continued", async (t) => {
  const { account, titles, server, work } = await setUp(t, { "a.ics": object("zoo") });

  work.objects = { "a.ics": object("zoo"), "b.ics": object("park"), "c.ics": object("lake") };
  const part = (file: string, token: string, status = "") =>
    `<multistatus xmlns="DAV:"><response><href>/home/work/${file}</href><propstat><prop><getetag>"2"</getetag></prop>` +
    `<status>HTTP/1.1 200 OK</status></propstat></response>${status}<sync-token>${token}</sync-token></multistatus>`;
  const full =
    "<response><href>/home/work/</href><status>HTTP/1.1 507 Insufficient Storage</status></response>";
  server.intervene = ({ body }) => {
    if (!body.includes("sync-collection")) return undefined;
    return {
      status: 207,
      body: body.includes(">half<") ? part("c.ics", "all") : part("b.ics", "half", full),
    };
  };
  await account.refresh();

  assert.deepEqual(await titles(), ["lake", "park", "zoo"]);
});
