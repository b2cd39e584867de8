import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { ShownStep } from "@mantel/plugin-sdk/protocol";
import { setUp } from "@mantel/plugin-sdk/testing";
import { startPlugin } from "@mantel/plugin-sdk/testing";
import type { Answer } from "dns-packet";
import plugin from "../../../../plugins/calendar/index.ts";
import { addCalendars } from "../../../../plugins/calendar/setup/add-calendars.ts";
import {
  makeAuthority,
  makeServerPair,
  readAuthority,
} from "../../../../scripts/certificate/authority.ts";
import {
  type DavAccount,
  type DavAccountOptions,
  serveDavAccount,
} from "../../../fakes/dav-account.ts";
import { serveDns } from "../../../fakes/dns-server.ts";
import { collectedLog } from "../../../helpers/collected-log.ts";
import { emptyFolder } from "../../../helpers/folder.ts";
import { until } from "../../../helpers/until.ts";
import { calendar, event } from "../calendar-text.ts";

const PASSWORD = "let-me-in";
const OBJECT = calendar(event("UID:a", "DTSTART:20260601T090000Z")).toString();

/** An account that takes this user and the password, with these calendars. */
async function serve(
  t: TestContext,
  username: string,
  names: readonly string[] = ["Home"],
  options: DavAccountOptions = {},
): Promise<DavAccount> {
  const account = await serveDavAccount(t, options);
  for (const name of names)
    account.calendars.set(name.toLowerCase(), { name, objects: { "a.ics": OBJECT } });
  const right = `Basic ${Buffer.from(`${username}:${PASSWORD}`).toString("base64")}`;
  account.intervene = ({ authorization }) =>
    authorization === right ? undefined : { status: 401 };
  return account;
}

function secure() {
  const authority = makeAuthority([], new Date());
  return makeServerPair(readAuthority(authority), ["localhost", "127.0.0.1"], new Date());
}

/** Runs the setup with these look-ups and answers, each by the title of its step. */
async function run(
  t: TestContext,
  answers: Readonly<Record<string, object | readonly object[]>>,
  { records = [], config = {} }: { records?: readonly Answer[]; config?: object } = {},
) {
  const { resolver } = await serveDns(t, records);
  const steps: Pick<ShownStep, "title" | "text">[] = [];
  const left = new Map(Object.entries(answers).map(([title, each]) => [title, [each].flat()]));
  const done = addCalendars(
    {
      config,
      log: collectedLog(),
      signal: t.signal,
      show: (step) => void steps.push(step),
      ask: async ({ title, text }) => {
        steps.push({ title, ...(text === undefined ? {} : { text }) });
        const answer = left.get(title)?.shift();
        if (answer === undefined) throw new Error(`no answer to "${title}": ${text ?? ""}`);
        return answer as never;
      },
    },
    resolver,
  );
  return { done, steps };
}

const WHICH = "Which calendars?";
const SHOWN = "Which of them are to be shown?";
const NEAR = "This server is in your own network. Is that right?";
const CERTIFICATE =
  "No known authority has signed this server's certificate. Is this its fingerprint?";
const ELSEWHERE = "Send the password to this server?";

test("the calendars of a mail address are found by its domain, and shown after the user has agreed", async (t) => {
  const server = await serve(t, "ann@example.org", ["Home", "Work"], { secure: secure() });
  const port = Number(new URL(server.url).port);
  const name = "_caldavs._tcp.example.org";
  const records: Answer[] = [
    { type: "SRV", name, data: { target: "localhost", port, priority: 0, weight: 0 } },
    { type: "TXT", name, data: ["path=/"] },
  ];

  const { done, steps } = await run(
    t,
    {
      [WHICH]: { address: "ann@example.org", password: PASSWORD },
      [ELSEWHERE]: { agreed: true },
      [NEAR]: { agreed: true },
      [CERTIFICATE]: { agreed: true },
      [SHOWN]: { calendars: ["Home"] },
    },
    { records },
  );
  const { sources } = await done;

  const { "example-org": source } = sources as Record<string, { fingerprint: string }>;
  assert.deepEqual(source, {
    kind: "caldav",
    url: `https://localhost:${port}/`,
    username: "ann@example.org",
    password: PASSWORD,
    allowPrivate: true,
    fingerprint: source?.fingerprint,
    leaveOut: ["Work"],
  });
  assert.match(source.fingerprint, /^[0-9A-F]{2}(:[0-9A-F]{2}){31}$/);
  const asked = steps.filter(({ title }) => title !== "Looking for calendars");
  assert.deepEqual(
    asked.map(({ title, text }) => [title, title === WHICH ? "" : (text ?? "")]),
    [
      [WHICH, ""],
      [ELSEWHERE, `localhost:${port}`],
      [NEAR, `localhost:${port}`],
      [CERTIFICATE, source.fingerprint],
      [SHOWN, ""],
    ],
  );
});

test("nothing is sent to a server that the user does not agree to, and the question comes again with the reason", async (t) => {
  const server = await serve(t, "ann@example.org", ["Home"], { secure: secure() });
  const port = Number(new URL(server.url).port);
  const name = "_caldavs._tcp.example.org";
  const data = { target: "localhost", port, priority: 0, weight: 0 };

  const { done, steps } = await run(
    t,
    {
      [WHICH]: [{ address: "ann@example.org", password: PASSWORD }],
      [ELSEWHERE]: { agreed: false },
    },
    { records: [{ type: "SRV", name, data }] },
  );

  await assert.rejects(done, /no answer to "Which calendars\?"/);
  assert.equal(steps.at(-1)?.text, `nothing was sent to localhost:${port}`);
  assert.deepEqual(server.requests, []);
});

test("the part of the mail address before the @ is the user name where the whole is refused", async (t) => {
  const server = await serve(t, "ann", ["Home"], { secure: secure() });
  const port = Number(new URL(server.url).port);
  const name = "_caldavs._tcp.localhost.example";
  const data = { target: "localhost", port, priority: 0, weight: 0 };

  const { done } = await run(
    t,
    {
      [WHICH]: { address: "ann@localhost.example", password: PASSWORD },
      [ELSEWHERE]: { agreed: true },
      [NEAR]: { agreed: true },
      [CERTIFICATE]: { agreed: true },
    },
    { records: [{ type: "SRV", name, data }] },
  );

  const { sources } = await done;
  assert.equal(Object.values(sources as Record<string, { username: string }>)[0]?.username, "ann");
});

test("a wrong password is asked for again, with the address as the default", async (t) => {
  const server = await serve(t, "ann");
  const answers: ShownStep[] = [];
  const answer = (password: string) => (step: ShownStep) => {
    answers.push(step);
    return { address: server.url, username: "ann", password };
  };

  const { options } = await setUp(plugin, {
    answers: [answer("wrong"), { agreed: true }, answer(PASSWORD), { agreed: true }],
  });

  assert.deepEqual(options, {
    sources: {
      "127-0-0-1": {
        kind: "caldav",
        url: server.url,
        username: "ann",
        password: PASSWORD,
        allowPrivate: true,
      },
    },
  });
  assert.match(answers[1]?.text ?? "", /does not accept the user name and password/);
  const { properties } = (answers[1] as ShownStep).form as {
    properties: Record<string, { default?: unknown }>;
  };
  assert.deepEqual(
    [
      properties["address"]?.default,
      properties["username"]?.default,
      properties["password"]?.default,
    ],
    [server.url, "ann", undefined],
  );
});

test("a calendar at an address of its own is read, and added as a feed", async (t) => {
  const server = await serveDavAccount(t);
  server.calendars.set("home", { name: "Home", objects: { "a.ics": OBJECT } });
  const url = `${server.url}/home/home/a.ics`;

  const { done } = await run(t, { [WHICH]: { address: url }, [NEAR]: { agreed: true } });

  assert.deepEqual((await done).sources, {
    "127-0-0-1": { kind: "feed", url, allowPrivate: true },
  });
});

test("an account that is entered again keeps its id, and another one of the domain gets its own", async (t) => {
  const server = await serve(t, "ann");
  const known = { url: server.url, username: "ann", kind: "caldav", password: "old" };
  const enter = { address: server.url, username: "ann", password: PASSWORD };
  const near = { agreed: true };

  const again = await run(
    t,
    { [WHICH]: enter, [NEAR]: near },
    { config: { sources: { mine: known } } },
  );
  const other = { ...known, username: "bob" };
  const second = await run(
    t,
    { [WHICH]: enter, [NEAR]: near },
    { config: { sources: { "127-0-0-1": other } } },
  );

  assert.deepEqual(Object.keys((await again.done).sources ?? {}), ["mine"]);
  assert.deepEqual(Object.keys((await second.done).sources ?? {}), ["127-0-0-1-2"]);
});

test("an account without calendars says so", async (t) => {
  const server = await serve(t, "ann", []);

  const { done, steps } = await run(t, {
    [WHICH]: { address: server.url, username: "ann", password: PASSWORD },
    [NEAR]: { agreed: true },
  });

  await assert.rejects(done, /no answer/);
  assert.equal(steps.at(-1)?.text, "the account has no calendars: create one there");
});

test("the setup ends with the last reason after several attempts", async (t) => {
  const { done } = await run(t, { [WHICH]: Array.from({ length: 8 }, () => ({ address: "a b" })) });

  await assert.rejects(done, /neither a mail address nor the address of a server/);
});

test("calendars that are left out are not shown, and not read", async (t) => {
  const server = await serve(t, "ann", ["Home", "Work"]);
  const source = {
    kind: "caldav",
    url: server.url,
    username: "ann",
    password: PASSWORD,
    allowPrivate: true,
    leaveOut: ["Work"],
  };
  const running = await startPlugin(plugin, {
    config: { sources: { dav: source } },
    folders: { calendars: await emptyFolder(t) },
  });
  t.after(() => running.stop());
  const ids = () => (running.published["calendar.window"]?.sources ?? []).map(({ id }) => id);

  await until(() => ids().includes("dav-home"));

  assert.deepEqual(ids(), ["dav-home"]);
  assert.ok(!server.requests.some((each) => each.includes("/work/")));
});
