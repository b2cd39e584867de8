import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { Feed } from "../../plugins/calendar/ics/feed.ts";
import { UTC } from "../../plugins/calendar/ics/zones.ts";
import { emptyFolder } from "../helpers/folder.ts";
import { startHost } from "../helpers/host.ts";
import { LOAD, until } from "../helpers/until.ts";
import { BOMBS } from "../plugins/calendar/bombs.ts";
import { calendar, event } from "../plugins/calendar/calendar-text.ts";

const FROM = Date.parse("2026-05-20T00:00:00Z");
const YEAR = { from: FROM, to: FROM + 400 * 86_400_000 };
/** Of the processor, so that a busy machine does not decide the test. */
const MAX_WORK_MS = 2_000;

/** One in three; `npm run bench calendar` takes all. */
const CHOSEN = Object.entries(BOMBS).filter((_, at) => at % 3 === 0);

for (const [name, make] of CHOSEN) {
  test(`a calendar with ${name} needs at most two seconds of work`, async () => {
    const bytes = make();
    const before = process.cpuUsage();

    const outcome = await expand(bytes);

    const { user, system } = process.cpuUsage(before);
    assert.ok(
      (user + system) / 1000 < MAX_WORK_MS * LOAD,
      `${(user + system) / 1000} ms: ${outcome}`,
    );
  });
}

test("the corpus has at least 50 hostile calendars", (t) => {
  t.diagnostic(`${CHOSEN.length} of ${Object.keys(BOMBS).length} hostile calendars`);
  assert.ok(Object.keys(BOMBS).length >= 50);
});

/** The result of a calendar in words. An expected refusal is a result, and everything else fails the test. */
async function expand(bytes: Buffer): Promise<string> {
  try {
    const feed = await Feed.read(bytes, UTC);
    const expansion = await feed.eventsIn(YEAR, { calendarId: "a", color: "#112233" });
    return `${expansion.events.length} events, ${expansion.skipped} skipped: ${JSON.stringify(expansion.reason)}`;
  } catch (error) {
    assert.equal((error as { code?: string }).code, "invalid");
    return String(error);
  }
}

test("a valid calendar next to hostile ones is shown, reads continue, and the module keeps running", async (t) => {
  const data = await emptyFolder(t);
  const folder = join(data, "calendars");
  await mkdir(folder);
  const day = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10).replaceAll("-", "");
  const good = calendar(event("UID:good", `DTSTART;VALUE=DATE:${day}`));
  await writeFile(join(folder, "good.ics"), good);
  const bombs = Object.values(BOMBS).filter((_, at) => at % 9 === 1);
  for (const [at, make] of bombs.entries()) {
    await writeFile(join(folder, `bomb-${at}.ics`), make());
  }

  const host = await startHost(t, { plugins: ["plugins/calendar"], data });
  const ask = async (path: string) => (await (await host.api(path)).json()) as Answer;
  const isRead = ({ fetchedAt, error }: Source) => fetchedAt !== null || !error?.includes("first");
  await until(
    async () => {
      const { sources = [] } = await ask("/calendar/events");
      return sources.length > bombs.length && sources.every(isRead);
    },
    { withinMs: 40_000 },
  );
  const { sources, events } = await ask("/calendar/events?calendar=good");
  const module = await ask("/modules/calendar");

  assert.deepEqual([sources?.[0]?.status, events?.length], ["ok", 1]);
  assert.deepEqual([module.state, module.restarts], ["active", 0]);
});

interface Source {
  readonly status: string;
  readonly fetchedAt: string | null;
  readonly error?: string;
}

/** The checked fields in the answers of two routes. */
interface Answer {
  readonly sources?: readonly Source[];
  readonly events?: readonly object[];
  readonly state?: string;
  readonly restarts?: number;
}
