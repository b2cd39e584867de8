import { setTimeout as delay } from "node:timers/promises";
import { definePlugin, type PluginContext, type Static } from "@mantel/plugin-sdk";
import { Account } from "./account.ts";
import { Agenda } from "./agenda.ts";
import { followFolder } from "./folder.ts";
import { Options, type SourceOptions, type WebOptions } from "./options.ts";
import { Source } from "./source.ts";
import { storageKey, Subscription, sweepKept } from "./subscription.ts";
import { findZone, UTC } from "./zones.ts";

type Context = PluginContext<Static<typeof Options>, undefined>;

/** Calendars of files in the calendars folder, of addresses on the web, and of accounts. */
export default definePlugin({
  options: Options,
  async start(ctx) {
    const { timeZone, locale } = ctx.house;
    const shared = { floating: findZone(timeZone) ?? UTC, locale };
    const onFault = (error: unknown) => ctx.log.error("calendars have a fault", { error });
    const agenda = new Agenda({
      zone: shared.floating,
      now: Date.now,
      publish: (window) => ctx.publish("calendar.window", window),
      onFault,
    });
    ctx.onDispose(agenda.watchDays());

    const entries = Object.entries(ctx.config.sources);
    const web = entries.flatMap(([id, { url, ...rest }]) => (url ? [{ ...rest, id, url }] : []));
    const files = entries.filter(([, { url }]) => url === undefined);
    await connect(ctx, { web, agenda, shared });
    const stopFollowing = await followFolder({
      ...shared,
      path: ctx.folder("calendars"),
      isTaken: (id) => web.some((each) => each.id === id || id.startsWith(`${each.id}-`)),
      settings: new Map<string, SourceOptions>(files),
      add: (source) => agenda.add(source),
      remove: (id) => agenda.remove(id),
      changed: agenda.changed,
      onFault,
    });
    ctx.onDispose(stopFollowing);
    await agenda.publish();

    return {
      services: {
        "calendar.events": ({ start, end }) =>
          agenda.eventsIn({ from: Date.parse(start), to: Date.parse(end) }),
      },
    };
  },
});

interface Parts {
  readonly web: readonly WebOptions[];
  readonly agenda: Agenda;
  readonly shared: ConstructorParameters<typeof Account>[0]["shared"];
}

/** How long a start waits for what was kept of the web. */
const RESTORING_MS = 2_000;

/** Begins to read what is on the web. What was kept of it is there when this resolves, unless it takes too long. */
async function connect(ctx: Context, { web, agenda, shared }: Parts): Promise<void> {
  const { config, storage, log, signal } = ctx;
  await sweepKept(storage, web.map(storageKey));
  const running: Promise<void>[] = [];
  const restoring: Promise<void>[] = [];
  ctx.onDispose(async () => void (await Promise.all(running)));
  const taken = new Set(Object.keys(config.sources));
  for (const each of web) {
    const refreshMs = (each.refreshSeconds ?? config.refreshSeconds) * 1000;
    const polling = { refreshMs, storage, log, signal, changed: agenda.changed };
    const reader = readerOf(each, { polling, agenda, shared, taken });
    const restored = reader.restore().catch((error: unknown) => {
      log.error("what was kept of a calendar cannot be shown", { calendar: each.id, error });
    });
    restoring.push(restored);
    running.push(restored.then(() => reader.run()));
  }
  const tooLate = delay(RESTORING_MS, undefined, { ref: false });
  await Promise.race([Promise.all(restoring), tooLate]);
}

function readerOf(
  web: WebOptions,
  {
    polling,
    agenda,
    shared,
    taken,
  }: Omit<Parts, "web"> & {
    readonly polling: Omit<ConstructorParameters<typeof Subscription>[0], "feed" | "source">;
    readonly taken: ReadonlySet<string>;
  },
): Account | Subscription {
  const add = (source: Source) => agenda.add(source);
  if (web.kind === "caldav" || web.kind === "carddav") {
    const remove = (id: string) => agenda.remove(id);
    return new Account({ ...polling, account: web, kind: web.kind, shared, taken, add, remove });
  }
  const source = new Source({ ...shared, id: web.id, settings: web, fallbackName: web.id });
  add(source);
  return new Subscription({ ...polling, feed: web, source });
}
