import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { startHost, type TestHost } from "../helpers/host.ts";
import { type Radicale, startRadicale, withoutRadicale } from "../helpers/radicale.ts";
import { until } from "../helpers/until.ts";

/** `KILLS=100 npm test test/long/radicale-kills.test.ts` is the whole proof, of some minutes. */
const KILLS = Number(process.env["KILLS"] ?? 8);
/** The kills of one subtest; one that lasts longer than two minutes counts as hanging. */
const PART = 4;
const SEED = Number(process.env["SEED"] ?? Date.now() % 2 ** 31);
const WRITES_A_SECOND = 20;
const CHANGES = 3;
const PATH = "home";
const CALENDAR_ID = "dav-home";

/** One event, as it goes through its life: created, changed some times, removed. */
interface Life {
  readonly uid: number;
  /** The id under which the host shows it. */
  id: string | undefined;
  /** The titles that the server may have now; `null` means no event. One if it is certain. */
  possible: readonly (string | null)[];
  version: number;
  isOver: boolean;
}

const codes = new Map<string, number>();

test(
  `an event that was answered as saved is at a server that is killed ${KILLS} times (seed ${SEED})`,
  { skip: withoutRadicale, timeout: 3_600_000 },
  async (t) => {
    const { radicale, host } = await setUp(t);
    const lives: Life[] = [];
    const idle: Life[] = [];
    const writes = new Set<Promise<void>>();
    let written = 0;
    const ticker = setInterval(() => {
      const life = idle.shift() ?? begin(lives);
      written++;
      const write = step(host, life)
        .then(() => void (life.isOver || idle.push(life)))
        .finally(() => writes.delete(write));
      writes.add(write);
    }, 1000 / WRITES_A_SECOND);
    const startedAt = performance.now();

    for (let done = 0; done < KILLS; done += PART) {
      await t.test(`${done + PART} kills`, async () => {
        for (let kill = 0; kill < PART; kill++) {
          await delay(200 + random() * 1_300);
          await radicale.stop();
          await delay(random() * 500);
          await radicale.start();
        }
      });
    }
    clearInterval(ticker);
    const seconds = (performance.now() - startedAt) / 1000;
    await Promise.all(writes);

    const titles = titlesIn(await stored(radicale));
    t.diagnostic(`${written} writes in ${seconds.toFixed(0)} s, ${titles.length} events left`);
    t.diagnostic(`answers: ${[...codes].map(([code, count]) => `${count} ${code}`).join(", ")}`);
    const wrong = lives.flatMap(({ uid, possible }) => {
      const found = titles.filter((title) => title.startsWith(`${uid}.`));
      const fits = found.length <= 1 && possible.includes(found[0] ?? null);
      return fits ? [] : [{ uid, possible, found }];
    });
    assert.deepEqual(wrong, []);
    assert.ok((codes.get("saved") ?? 0) > KILLS, "writes were told as saved");
    const settled = await until(() => shownTitles(host, titles.length), { withinMs: 60_000 });
    assert.deepEqual(settled, titles.toSorted());
  },
);

async function setUp(t: TestContext): Promise<{ radicale: Radicale; host: TestHost }> {
  const radicale = await startRadicale(t);
  await radicale.make(PATH, { name: "Home" });
  const { url, username, password } = radicale;
  const dav = { kind: "caldav", url, username, password, allowPrivate: true };
  const host = await startHost(t, { plugins: ["plugins/calendar"] });
  await until(async () => (await host.api("/health/ready")).ok, { withinMs: 20_000 });
  const json = { sources: { dav } };
  const set = await host.api("/modules/calendar/config", { method: "PATCH", json });
  assert.equal(set.status, 200);
  await until(
    async () => {
      const { sources } = await eventsOf(host);
      return sources.some(({ id, status }) => id === CALENDAR_ID && status === "ok");
    },
    { withinMs: 20_000 },
  );
  return { radicale, host };
}

function begin(lives: Life[]): Life {
  const life = {
    uid: lives.length,
    id: undefined,
    possible: [null],
    version: 0,
    isOver: false,
  };
  lives.push(life);
  return life;
}

/** The next step in the life of an event, and what the server may have after it. */
async function step(host: TestHost, life: Life): Promise<void> {
  const isLast = life.version > CHANGES;
  const title = isLast ? null : `${life.uid}.${life.version++}`;
  const answer = await send(host, life, title);
  if (answer.isSaved) life.possible = [title];
  else if (answer.code === "outcome_unknown" || answer.code === "deadline_passed")
    life.possible = [...life.possible, title];
  life.id = answer.id ?? life.id;
  life.isOver = isLast || life.id === undefined;
  const key = answer.isSaved ? "saved" : answer.code;
  codes.set(key, (codes.get(key) ?? 0) + 1);
}

interface Answer {
  readonly isSaved: boolean;
  readonly code: string;
  readonly id: string | undefined;
}

async function send(host: TestHost, { id, uid }: Life, title: string | null): Promise<Answer> {
  const path = `/calendar/events${id === undefined ? "" : `/${encodeURIComponent(id)}`}`;
  const start = { dateTime: new Date(Date.now() + uid * 60_000).toISOString(), timeZone: "UTC" };
  const request =
    title === null
      ? { method: "DELETE" }
      : id === undefined
        ? { method: "POST", json: { calendarId: CALENDAR_ID, title, start } }
        : { method: "PATCH", json: { title } };
  const response = await host.api(path, request);
  const body = response.status === 204 ? {} : await response.json();
  const { code = String(response.status), event } = body as {
    code?: string;
    event?: { id: string };
  };
  return { isSaved: response.ok, code, id: event?.id };
}

interface Shown {
  readonly events: readonly { readonly title: string }[];
  readonly sources: readonly { readonly id: string; readonly status: string }[];
}

async function eventsOf(host: TestHost): Promise<Shown> {
  const response = await host.api("/calendar/events?limit=2000");
  return (await response.json()) as Shown;
}

/** The titles that the host shows, once they are so many. */
async function shownTitles(host: TestHost, count: number): Promise<string[] | undefined> {
  await host.api("/calendar/sources/dav-home/refresh", { method: "POST" });
  const { events } = await eventsOf(host);
  return events.length === count ? events.map(({ title }) => title).toSorted() : undefined;
}

/** The whole calendar, as the server sends it. */
async function stored({ url, username, password }: Radicale): Promise<string> {
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  const response = await fetch(`${url}/ann/${PATH}/`, { headers: { authorization } });
  assert.equal(response.status, 200);
  return response.text();
}

function titlesIn(text: string): string[] {
  return [...text.matchAll(/^SUMMARY:(.*?)\r?$/gm)].map(([, title = ""]) => title);
}

/** The same pauses for the same seed. */
let state = SEED;
function random(): number {
  state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
  return state / 2 ** 32;
}
