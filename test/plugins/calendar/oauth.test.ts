import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createStorage } from "../../../plugin-sdk/runtime/storage.ts";
import { authorizedRequest } from "../../../plugins/calendar/web/authorized-request.ts";
import { AccessTokens, askOAuth } from "../../../plugins/calendar/web/oauth.ts";
import { serveDavAccount } from "../../fakes/dav-account.ts";
import { CLIENT_ID, json, type Reply, serveProvider } from "../../fakes/oauth-provider.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { calendar, event } from "./calendar-text.ts";
import { openAccount } from "./open-account.ts";

const never = new AbortController().signal;

/** A provider with one valid refresh token, and the tokens of its client. */
async function setUp(t: TestContext, api: () => Reply = () => json({})) {
  const provider = await serveProvider(t, { scope: "calendar" }, api);
  provider.refreshTokens.add("lasting");
  const stored = new Map<string, unknown>();
  const time = { now: 0 };
  const tokens = new AccessTokens({
    oauth: { tokenUrl: `${provider.url}/token`, clientId: CLIENT_ID, refreshToken: "lasting" },
    allowPrivate: true,
    storage: {
      get: async (key) => stored.get(key),
      set: async (key, value) => void stored.set(key, value),
    },
    log: collectedLog(),
    signal: never,
    now: () => time.now,
  });
  const ask = () =>
    authorizedRequest(
      { id: "a", url: provider.url, allowPrivate: true, tokens },
      { url: `${provider.url}/events`, trusts: () => true, allowPrivate: true, signal: never },
    );
  return { provider, tokens, time, ask };
}

test("requests at the same time share one renewal, and a token is used until a minute before its end", async (t) => {
  const { provider, tokens, time } = await setUp(t);

  const [first, second] = await Promise.all([tokens.get(), tokens.get()]);
  time.now = 3_538_000;
  const third = await tokens.get();
  time.now = 3_540_000;
  const fourth = await tokens.get();

  assert.deepEqual([second, third], [first, first]);
  assert.notEqual(fourth, first);
  assert.deepEqual(provider.grants, ["refresh_token", "refresh_token"]);
});

test("a token that ended early is renewed once, within the request", async (t) => {
  const { provider, ask } = await setUp(t);
  await ask();

  provider.endAccess();
  const { status } = await ask();

  assert.equal(status, 200);
  assert.equal(provider.grants.length, 2);
});

test("a server that refuses a new token as well ends the attempts", async (t) => {
  const { provider, ask } = await setUp(t, () => ({ status: 401 }));

  await assert.rejects(ask(), /ended this sign-in/);
  assert.equal(provider.grants.length, 2);
});

const BAD: [what: string, reply: Reply, message: RegExp][] = [
  ["no token", json({ token_type: "Bearer" }), /answer of another form/],
  [
    "a token with a line break",
    json({ access_token: "a\r\nb", token_type: "Bearer" }),
    /another form/,
  ],
  ["another kind of token", json({ access_token: "a", token_type: "mac" }), /another form/],
  ["a page", { status: 200, body: "<html>" }, /another form/],
  ["no reason", { status: 500 }, /status 500/],
  ["a redirect", { status: 302, headers: { location: "http://127.0.0.1:9/" } }, /status 302/],
];

for (const [what, reply, message] of BAD) {
  test(`a provider that gives ${what} is refused`, async (t) => {
    const { provider, tokens } = await setUp(t);
    provider.reply = async () => reply;

    await assert.rejects(tokens.get(), message);
  });
}

test("a sign-in at an address of the home needs permission", async (t) => {
  const { provider } = await setUp(t);

  await assert.rejects(
    askOAuth({ url: `${provider.url}/token`, form: {}, signal: never }),
    /private network/,
  );
});

test("a CalDAV server that takes access tokens is read with those of a sign-in", async (t) => {
  const { provider, tokens } = await setUp(t);
  const server = await serveDavAccount(t);
  const object = calendar(event("UID:a", "DTSTART:20260601T090000Z", "SUMMARY:concert")).toString();
  server.calendars.set("home", { name: "Home", objects: { "a.ics": object } });
  server.intervene = ({ authorization }) =>
    provider.isAllowed(authorization) ? undefined : { status: 401 };
  const storage = createStorage(await emptyFolder(t), collectedLog());
  const { account, titles } = openAccount({ url: server.url, tokens }, storage);

  await account.refresh();
  provider.endAccess();
  await account.refresh();

  assert.deepEqual(await titles(), ["concert"]);
  assert.deepEqual(provider.grants, ["refresh_token", "refresh_token"]);
});
