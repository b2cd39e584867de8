import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { type IssueRequest, Tokens } from "../../../host/auth/tokens.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";

const HOUR = 3_600;
const LINK = { name: "phone", scope: ["read" as const, "control" as const], ttlSeconds: HOUR };
const DISPLAY = { name: "wall", scope: ["control" as const], ttlSeconds: 90 * HOUR, display: true };

test("a session has the name and scopes of its token, and names the token in the register", async (t) => {
  const { tokens, issue } = await openTokens(t);
  const link = await issue(LINK);

  const { token, ttlSeconds } = await tokens.openSession(link.token);

  const session = tokens.verify(token);
  assert.deepEqual(
    { ...session, jti: "any" },
    { sub: "phone", jti: "any", scope: ["read", "control"], session: true },
  );
  assert.equal(tokens.find(session.jti)?.openedWith, link.jti);
  assert.ok(ttlSeconds > HOUR - 60 && ttlSeconds <= HOUR);
  assert.equal(tokens.verify(link.token).jti, link.jti, "the link stays valid in a header");
});

test("a session expires with its token, however late it is opened", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() });
  const { tokens, issue } = await openTokens(t);
  const [early, late] = [await issue(LINK), await issue(LINK)];

  t.mock.timers.tick(1_000_000);
  const first = await tokens.openSession(early.token);
  t.mock.timers.tick((HOUR - 1_000) * 1_000 + 10_000);
  const second = await tokens.openSession(late.token);

  assert.ok(Math.abs(first.ttlSeconds - (HOUR - 1_000)) <= 1, String(first.ttlSeconds));
  assert.equal(second.ttlSeconds, 1, "the token is in its thirty extra seconds");
});

test("a session lives as long as its token asks for", async (t) => {
  const { tokens, issue } = await openTokens(t);
  const link = await issue({ ...LINK, sessionSeconds: 24 * HOUR });

  const { token, ttlSeconds } = await tokens.openSession(link.token);

  const record = tokens.find(tokens.verify(token).jti);
  assert.equal(ttlSeconds, 24 * HOUR);
  assert.equal(lifeSecondsOf(record), 24 * HOUR);
});

test("a link signs in one browser, and a session cannot open another one", async (t) => {
  const { tokens, issue } = await openTokens(t);
  const link = await issue(LINK);
  const { token } = await tokens.openSession(link.token);

  await assert.rejects(tokens.openSession(link.token), {
    code: "link_used",
    message: /make another one with npm run token, or pair this screen by its code$/,
  });
  assert.throws(() => tokens.getOpener(token), {
    code: "unauthorized",
    message: "the token of a session cannot open another session",
  });
});

test("a link that another process has just used is known as used", async (t) => {
  const { tokens, issue, dataFolder } = await openTokens(t);
  const other = await Tokens.open({ dataFolder, log: collectedLog() });
  const link = await issue(LINK);

  await other.openSession(link.token);

  await assert.rejects(tokens.openSession(link.token), { code: "link_used" });
});

test("the token of a display moves into its session, and ends when the session is first used", async (t) => {
  const { tokens, issue } = await openTokens(t);
  const display = await issue(DISPLAY);

  const { token, ttlSeconds } = await tokens.openSession(display.token);
  const session = tokens.verify(token);
  const before = tokens.verify(display.token);
  await tokens.noteUse(session);

  assert.equal(ttlSeconds, DISPLAY.ttlSeconds);
  assert.deepEqual(
    [session.display, session.session, before.display, before.session],
    [true, true, true, undefined],
  );
  assert.throws(() => tokens.verify(display.token), {
    message: "the token was revoked",
    extras: { reason: "revoked" },
  });
  const { replaces, openedWith } = tokens.find(session.jti) ?? {};
  assert.deepEqual([replaces, openedWith], [display.jti, undefined]);
});

test("a display whose session never arrived can open another one", async (t) => {
  const { tokens, issue } = await openTokens(t);
  const display = await issue(DISPLAY);
  await tokens.openSession(display.token);

  const { token } = await tokens.openSession(display.token);

  assert.ok(tokens.verify(token).display);
});

for (const session of [undefined, true]) {
  test(`a display's ${session ? "session" : "token"} is renewed after a third of its life, for the same time`, async (t) => {
    t.mock.timers.enable({ apis: ["Date"], now: Date.now() });
    const { tokens, issue } = await openTokens(t);
    const { principal } = await issue({ ...DISPLAY, ...(session ? { session } : {}) });

    t.mock.timers.tick(29 * HOUR * 1_000);
    const early = await tokens.renew(principal);
    t.mock.timers.tick(HOUR * 1_000);
    const due = await tokens.renew(principal);

    assert.equal(early, undefined);
    const renewed = tokens.verify(due?.token ?? "");
    const { sub, scope, display } = renewed;
    assert.deepEqual(
      { sub, scope, display, session: renewed.session },
      { sub: "wall", scope: ["control"], display: true, session },
    );
    assert.equal(due?.ttlSeconds, DISPLAY.ttlSeconds);
    assert.equal(lifeSecondsOf(tokens.find(renewed.jti)), DISPLAY.ttlSeconds);
    assert.equal(tokens.find(renewed.jti)?.replaces, principal.jti);
  });
}

test("a token that is not in the register is not renewed", async (t) => {
  const { tokens } = await openTokens(t);

  assert.equal(await tokens.renew({ sub: "wall", jti: "unknown", scope: ["read"] }), undefined);
});

test("a use ends the replaced token once, also after a restart, and other uses write nothing", async (t) => {
  const { issue, dataFolder } = await openTokens(t);
  const first = await issue(DISPLAY);
  const second = await issue({ ...DISPLAY, replaces: first.jti });
  const reopened = await Tokens.open({ dataFolder, log: collectedLog() });

  const before = reopened.list();
  await reopened.noteUse(first.principal);
  const unchanged = reopened.list();
  await reopened.noteUse(second.principal);
  const ended = reopened.list();
  await reopened.noteUse(reopened.verify(second.token));

  assert.equal(unchanged, before);
  assert.deepEqual(
    ended.map(({ revokedAt }) => revokedAt !== null),
    [true, false],
  );
  assert.equal(reopened.list(), ended);
});

test("ending a token leaves the session it opened, and ending it again writes nothing", async (t) => {
  const { tokens, issue } = await openTokens(t);
  const link = await issue(LINK);
  const { token } = await tokens.openSession(link.token);

  await tokens.end(link.principal);
  const ended = tokens.list();
  await tokens.end(link.principal);

  assert.throws(() => tokens.verify(link.token), { code: "unauthorized" });
  assert.equal(tokens.verify(token).session, true);
  assert.equal(tokens.list(), ended);
});

test("revoking a token revokes the sessions it opened, and no others of its name", async (t) => {
  const { tokens, issue } = await openTokens(t);
  const [lost, kept] = [await issue(LINK), await issue(LINK)];
  const [lostSession, keptSession] = [
    await tokens.openSession(lost.token),
    await tokens.openSession(kept.token),
  ];

  const count = await tokens.revoke("phone", lost.jti);

  assert.equal(count, 2);
  assert.throws(() => tokens.verify(lostSession.token), { code: "unauthorized" });
  assert.ok(tokens.verify(keptSession.token));
});

function lifeSecondsOf(record: { issuedAt: string; expiresAt: string } | undefined): number {
  return (Date.parse(record?.expiresAt ?? "") - Date.parse(record?.issuedAt ?? "")) / 1_000;
}

async function openTokens(t: TestContext) {
  const dataFolder = await emptyFolder(t);
  const tokens = await Tokens.open({ dataFolder, log: collectedLog() });
  return {
    tokens,
    dataFolder,
    issue: async (request: IssueRequest) => {
      const token = await tokens.issue(request);
      const principal = tokens.verify(token);
      return { token, principal, jti: principal.jti };
    },
  };
}

test("changed rights hold for renewed tokens and new sessions, and after a restart", async (t) => {
  const data = await emptyFolder(t);
  const tokens = await Tokens.open({ dataFolder: data, log: collectedLog() });
  const token = await tokens.issue({ ...DISPLAY, ttlSeconds: 60 });
  const rights = { scope: ["read" as const], readOnlyPaths: ["automations"] };

  await tokens.changeRights("wall", tokens.verify(token).jti, rights);
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() + 30_000 });
  const renewed = await tokens.renew(tokens.verify(token));
  const session = await tokens.openSession(token);
  const restarted = await Tokens.open({ dataFolder: data, log: collectedLog() });

  for (const each of [token, renewed?.token ?? "", session.token]) {
    const { scope, readOnlyPaths } = restarted.verify(each);
    assert.deepEqual({ scope, readOnlyPaths }, rights);
  }
});
