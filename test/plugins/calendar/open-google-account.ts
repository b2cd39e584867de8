import type { TestContext } from "node:test";
import type { CalendarEvent, Storage } from "@mantel/plugin-sdk";
import { createStorage } from "../../../plugin-sdk/runtime/storage.ts";
import { findZone, UTC } from "../../../plugins/calendar/ics/zones.ts";
import type { Source } from "../../../plugins/calendar/source.ts";
import { Account } from "../../../plugins/calendar/web/account.ts";
import { AccessTokens } from "../../../plugins/calendar/web/oauth.ts";
import type { FakeGoogle } from "../../fakes/google-calendar.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { openWriter } from "./open-writer.ts";

const YEAR = { from: Date.parse("2026-01-01"), to: Date.parse("2027-01-01") };
const ZONE = findZone("Europe/Berlin") ?? UTC;

/** A Google account whose user has signed in, read when the test says so, and a writer for its calendars. */
export async function openGoogleAccount(t: TestContext, google: FakeGoogle, kept?: Storage) {
  const log = collectedLog();
  const storage = kept ?? createStorage(await emptyFolder(t), log);
  const { signal } = new AbortController();
  google.oauth.refreshTokens.add("lasting");
  const oauth = { tokenUrl: `${google.url}/token`, ...google.client, refreshToken: "lasting" };
  const tokens = new AccessTokens({ oauth, allowPrivate: true, storage, log, signal });
  const sources = new Map<string, Source>();
  const account = new Account({
    account: {
      id: "cloud",
      url: `${google.url}/calendar/v3`,
      username: "ann@example.org",
      allowPrivate: true,
      tokens,
    },
    kind: "google",
    refreshMs: 900_000,
    storage,
    log,
    taken: new Set(),
    shared: { floating: ZONE, locale: "en" },
    add: (source) => sources.set(source.id, source),
    remove: (id) => sources.delete(id),
    changed: () => {},
    signal,
  });
  const writing = {
    find: (id: string) => account.calendarOf(id),
    has: (id: string) => sources.has(id),
    publish: async () => {},
    zone: ZONE,
    pausesMs: [1, 2, 5],
  };
  const { writer } = openWriter(writing, storage);
  const events = async (id?: string): Promise<readonly CalendarEvent[]> => {
    const shown = [...sources.values()].filter((each) => id === undefined || each.id === id);
    const all = await Promise.all(shown.map((source) => source.eventsIn(YEAR)));
    return all.flatMap((each) => each.events);
  };
  const titles = async () => (await events()).map(({ title }) => title).toSorted();
  return { account, sources, storage, log, writer, events, titles };
}
