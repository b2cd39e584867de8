import type { Storage } from "@mantel/plugin-sdk";
import { UTC } from "../../../plugins/calendar/ics/zones.ts";
import type { Source } from "../../../plugins/calendar/source.ts";
import { Account, type AccountOptions } from "../../../plugins/calendar/web/account.ts";
import { collectedLog } from "../../helpers/collected-log.ts";

const YEAR = { from: Date.parse("2026-01-01"), to: Date.parse("2027-01-01") };

/** An account that is read when the test says so, its sources by id, and the titles of their events in 2026. */
export function openAccount(
  settings: Partial<AccountOptions["account"]> & { readonly url: string },
  storage: Storage,
  changed: () => void = () => {},
) {
  const sources = new Map<string, Source>();
  const account = new Account({
    account: { id: "dav", allowPrivate: true, ...settings },
    kind: settings.kind === "carddav" ? "carddav" : "caldav",
    refreshMs: 900_000,
    storage,
    log: collectedLog(),
    taken: new Set(),
    shared: { floating: UTC, locale: "en" },
    add: (source) => sources.set(source.id, source),
    remove: (id) => sources.delete(id),
    changed,
    signal: new AbortController().signal,
  });
  return { account, sources, titles: () => titlesOf(sources) };
}

async function titlesOf(sources: ReadonlyMap<string, Source>): Promise<string[]> {
  const all = await Promise.all([...sources.values()].map((source) => source.eventsIn(YEAR)));
  return all
    .flatMap(({ events }) => events)
    .map(({ title }) => title)
    .toSorted();
}
