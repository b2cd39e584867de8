import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { SetupStep } from "@mantel/plugin-sdk";
import { startPlugin } from "@mantel/plugin-sdk/testing";
import plugin from "../../../../plugins/calendar/index.ts";
import { addCalendars } from "../../../../plugins/calendar/setup/add-calendars.ts";
import { type FakeGoogle, startGoogle } from "../../../fakes/google-calendar.ts";
import { FakeGraph, type GraphCalendar } from "../../../fakes/graph.ts";
import { CLIENT_ID, type OAuthProvider, serveProvider } from "../../../fakes/oauth-provider.ts";
import { collectedLog } from "../../../helpers/collected-log.ts";
import { emptyFolder } from "../../../helpers/folder.ts";
import { until } from "../../../helpers/until.ts";

const MICROSOFT_SCOPE = "offline_access https://graph.microsoft.com/Calendars.ReadWrite";
const OPEN = "Open this address and sign in. Then copy the address of the page that does not load";
const DAY_MS = 86_400_000;

const MAIL = "ann@gmail.com";

/** Google, with one calendar of one event. */
async function serveGoogle(t: TestContext): Promise<FakeGoogle> {
  const google = await startGoogle(t);
  google.addCalendar(MAIL, { summary: "Home", primary: true });
  const [start, end] = [{ date: at(1).slice(0, 10) }, { date: at(2).slice(0, 10) }];
  google.put(MAIL, { id: "concert1", summary: "Concert", start, end });
  return google;
}

const at = (days: number, time = "09:00") =>
  `${new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10)}T${time}:00.0000000`;
const when = (dateTime: string) => ({ dateTime, timeZone: "UTC" });

function meeting(id: string, fields: object = {}): Record<string, unknown> {
  const start = when(at(1));
  return { id, changeKey: `${id}-1`, subject: id, start, end: when(at(1, "10:00")), ...fields };
}

/** Microsoft: a provider that rotates refresh tokens, and its calendars. */
async function serveMicrosoft(t: TestContext, calendars: readonly GraphCalendar[]) {
  const graph = new FakeGraph(calendars);
  const options = { scope: MICROSOFT_SCOPE, rotates: true, pending: 2 };
  const provider = await serveProvider(t, options, (incoming, body) => graph.reply(incoming, body));
  return { provider, graph };
}

/** Runs the setup; each answer is made from the text of its step. */
async function add(
  address: string,
  { google, microsoft }: { google?: FakeGoogle; microsoft?: OAuthProvider },
  answers: Readonly<Record<string, (text: string) => object>>,
  shown: SetupStep[] = [],
  config: Parameters<typeof addCalendars>[0]["config"] = {},
) {
  const url = microsoft?.url ?? "http://127.0.0.1:9";
  const endpoints = {
    google: {
      authorize: "https://accounts.example/auth",
      token: `${google?.url ?? url}/token`,
      calendars: `${google?.url ?? url}/calendar/v3`,
    },
    microsoft: { authority: url, calendars: `${url}/v1.0` },
    allowPrivate: true,
  };
  const never = () => Promise.reject(new Error("no records"));
  return addCalendars(
    {
      config,
      log: collectedLog(),
      signal: new AbortController().signal,
      show: (step) => void shown.push(step),
      ask: async ({ title, text = "" }) => {
        shown.push({ title, text });
        if (title === "Which calendars?" && shown.length === 1) return { address } as never;
        const answer = answers[title];
        if (answer === undefined) throw new Error(`no answer to "${title}": ${text}`);
        return answer(text) as never;
      },
    },
    { resolveSrv: never, resolveTxt: never, resolveMx: never },
    endpoints,
  );
}

const SIGN_IN = {
  "Sign in at Microsoft": () => ({ clientId: CLIENT_ID, tenant: "common" }),
};

async function startWith(t: TestContext, sources: unknown, storage?: string) {
  const running = await startPlugin(plugin, {
    config: { sources },
    ...(storage === undefined ? {} : { storage }),
    folders: { calendars: await emptyFolder(t) },
  });
  t.after(() => running.stop());
  return {
    running,
    window: () => running.published["calendar.window"],
    titles: () => (running.published["calendar.window"]?.events ?? []).map(({ title }) => title),
    error: () => running.published["calendar.window"]?.sources[0]?.error,
  };
}

/** Reads one event, and stops; returns the storage. */
async function readOnce(t: TestContext, sources: unknown): Promise<string> {
  const storage = await emptyFolder(t);
  const { running, titles } = await startWith(t, sources, storage);
  await until(() => titles().length === 1);
  await running.stop();
  return storage;
}

test("a Google account is added by its sign-in, and read with its tokens", async (t) => {
  const google = await serveGoogle(t);

  const { sources } = await add(
    MAIL,
    { google },
    {
      "Sign in at Google": () => google.client,
      [OPEN]: (text) => ({ pasted: google.oauth.agree(text) }),
    },
  );

  const { "gmail-com": source } = sources as Record<string, { oauth: { refreshToken: string } }>;
  assert.deepEqual(source, {
    kind: "google",
    url: `${google.url}/calendar/v3`,
    username: MAIL,
    allowPrivate: true,
    oauth: {
      tokenUrl: `${google.url}/token`,
      ...google.client,
      refreshToken: source?.oauth.refreshToken,
    },
  });
  assert.deepEqual(google.oauth.grants, ["authorization_code"]);
  const { titles } = await startWith(t, sources);
  await until(() => titles().includes("Concert"));
  assert.deepEqual(google.oauth.grants, ["authorization_code", "refresh_token"]);
});

test("who signs in again keeps the account and its client, and chooses calendars again", async (t) => {
  const google = await serveGoogle(t);
  google.addCalendar("work@group", { summary: "Work" });
  const choose = (...calendars: string[]) => ({
    [OPEN]: (text: string) => ({ pasted: google.oauth.agree(text) }),
    "Which of them are to be shown?": () => ({ calendars }),
  });
  const first = await add(
    MAIL,
    { google },
    { "Sign in at Google": () => google.client, ...choose("Home") },
  );

  const again = await add(
    MAIL,
    { google },
    { "Sign in at Google": () => ({ clientId: CLIENT_ID }), ...choose("Home", "Work") },
    [],
    first as never,
  );

  const [before, after] = [first, again].map(
    ({ sources }) =>
      (sources as Record<string, { oauth: { clientSecret?: string }; leaveOut: string[] }>)[
        "gmail-com"
      ],
  );
  assert.deepEqual([before?.leaveOut, after?.leaveOut], [["Work"], []]);
  assert.notDeepEqual(after?.oauth, before?.oauth);
  assert.equal(after?.oauth.clientSecret, google.client.clientSecret);
});

for (const [what, change, reason] of [
  [
    "an address that is not the one of the sign-in",
    (pasted: string) => pasted.replace(/state=[^&]*/, "state=other"),
    /not the address of the page that follows the sign-in/,
  ],
  [
    "a refusal of the user",
    () => "http://127.0.0.1:48470/?error=access_denied",
    /sign-in was declined/,
  ],
] as const) {
  test(`${what} is told, and the question comes again`, async (t) => {
    const google = await serveGoogle(t);
    const shown: SetupStep[] = [];

    const adding = add(
      MAIL,
      { google },
      {
        "Sign in at Google": () => google.client,
        [OPEN]: (text) => ({ pasted: change(google.oauth.agree(text)) }),
      },
      shown,
    );

    await assert.rejects(adding, /no answer to "Which calendars\?"/);
    assert.match(shown.at(-1)?.text ?? "", reason);
  });
}

test("a user who allows only a part is asked to tick all boxes", async (t) => {
  const google = await serveGoogle(t);
  google.oauth.granted = "https://www.googleapis.com/auth/calendar.calendarlist.readonly";
  const shown: SetupStep[] = [];

  const adding = add(
    MAIL,
    { google },
    {
      "Sign in at Google": () => google.client,
      [OPEN]: (text) => ({ pasted: google.oauth.agree(text) }),
    },
    shown,
  );

  await assert.rejects(adding, /no answer to "Which calendars\?"/);
  assert.match(shown.at(-1)?.text ?? "", /tick all boxes/);
});

test("a Microsoft account is added by a code, and shows the occurrences that Graph works out", async (t) => {
  const events = [
    meeting("weekly", {
      subject: "Weekly; with, signs",
      body: { contentType: "text", content: "First line\r\nsecond" },
      location: { displayName: "Room 1" },
      categories: ["Blue category"],
      showAs: "tentative",
      isReminderOn: true,
      reminderMinutesBeforeStart: 15,
      onlineMeeting: { joinUrl: "https://teams.microsoft.com/l/meetup-join/1" },
    }),
    meeting("holiday", {
      isAllDay: true,
      start: when(at(2, "00:00")),
      end: when(at(4, "00:00")),
      showAs: "free",
    }),
    meeting("declined", { responseStatus: { response: "declined" } }),
    meeting("cancelled", { isCancelled: true }),
    meeting("far away", { start: when(at(900)), end: when(at(900, "10:00")) }),
    { id: "odd", start: "yesterday" },
  ];
  const home: GraphCalendar = { id: "AAMk=1", name: "Home", hexColor: "#0f6cbd", events };
  const work: GraphCalendar = { id: "AAMk=2", name: "Work", events: [meeting("secret")] };
  const third: GraphCalendar = { id: "AAMk=3", name: "Birthdays", events: [] };
  const { provider, graph } = await serveMicrosoft(t, [home, work, third]);
  events.pop();
  const shown: SetupStep[] = [];

  const { sources } = await add(
    "ann@outlook.com",
    { microsoft: provider },
    {
      ...SIGN_IN,
      "Which of them are to be shown?": () => ({ calendars: ["Home", "Birthdays"] }),
    },
    shown,
  );
  const { window } = await startWith(t, sources);
  await until(() => (window()?.events.length ?? 0) >= 4);

  assert.ok(shown.some(({ text }) => text === "https://provider.example/device\nABCD-EFGH"));
  const byTitle = new Map(window()?.events.map((each) => [each.title, each]));
  const weekly = byTitle.get("Weekly; with, signs");
  assert.deepEqual(
    [weekly?.location, weekly?.description, weekly?.categories, weekly?.status, weekly?.conference],
    [
      "Room 1",
      "First line\nsecond",
      ["Blue category"],
      "tentative",
      "https://teams.microsoft.com/l/meetup-join/1",
    ],
  );
  assert.deepEqual(weekly?.reminders, [{ offsetMs: -900_000 }]);
  const startOf = (title: string) => JSON.stringify(byTitle.get(title)?.start);
  assert.match(startOf("Weekly; with, signs"), new RegExp(`"dateTime":"${at(1).slice(0, 11)}`));
  assert.equal(startOf("holiday"), JSON.stringify({ date: at(2).slice(0, 10) }));
  assert.equal(
    JSON.stringify(byTitle.get("holiday")?.end),
    JSON.stringify({ date: at(4).slice(0, 10) }),
  );
  assert.equal(byTitle.get("declined")?.attendance, "declined");
  assert.equal(byTitle.get("cancelled")?.status, "cancelled");
  assert.equal(byTitle.has("secret"), false);
  assert.equal(byTitle.has("far away"), false);
  assert.ok(!graph.requests.some((each) => each.includes("AAMk%3D2/calendarView")));
});

test("a renewed refresh token is used after a restart", async (t) => {
  const home: GraphCalendar = { id: "1", name: "Home", events: [meeting("one")] };
  const { provider } = await serveMicrosoft(t, [home]);
  const { sources } = await add("ann@outlook.com", { microsoft: provider }, SIGN_IN);
  const storage = await readOnce(t, sources);

  home.events = [...home.events, meeting("two")];
  const second = await startWith(t, sources, storage);
  await until(() => second.titles().length === 2);

  assert.equal(second.error(), undefined);
  assert.equal(provider.grants.filter((grant) => grant === "refresh_token").length, 2);
  assert.equal(provider.refreshTokens.size, 1);
});

test("a sign-in that has ended says so, and the events stay", async (t) => {
  const home: GraphCalendar = { id: "1", name: "Home", events: [meeting("one")] };
  const { provider } = await serveMicrosoft(t, [home]);
  const { sources } = await add("ann@outlook.com", { microsoft: provider }, SIGN_IN);
  const storage = await readOnce(t, sources);

  provider.revoke();
  const { titles, error, window } = await startWith(t, sources, storage);
  await until(() => /ended this sign-in: add the calendars again/.test(error() ?? ""));

  assert.equal(window()?.sources[0]?.status, "stale");
  assert.deepEqual(titles(), ["one"]);
});

for (const [what, reply, message] of [
  ["is too busy", { status: 429, headers: { "retry-after": "120" } }, /too often \(429\)/],
  ["answers with something else", { status: 200, body: "<html>" }, /answer of another form/],
  [
    "sends on to another server",
    { status: 200, body: '{"value":[],"@odata.nextLink":"http://127.0.0.1:9/x"}' },
    /answer of another form/,
  ],
  ["refuses", { status: 403 }, /refuses access \(403\)/],
] as const) {
  test(`a Graph that ${what} is told, and the events stay`, async (t) => {
    const home: GraphCalendar = { id: "1", name: "Home", events: [meeting("one")] };
    const { provider, graph } = await serveMicrosoft(t, [home]);
    const { sources } = await add("ann@outlook.com", { microsoft: provider }, SIGN_IN);
    const storage = await readOnce(t, sources);

    graph.intervene = () => reply;
    const { titles, error } = await startWith(t, sources, storage);
    await until(() => message.test(error() ?? ""));

    assert.deepEqual(titles(), ["one"]);
  });
}
