import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  calendarChange,
  calendarEvents,
  calendarRefresh,
  calendarTaskChange,
  calendarTasks,
  definePlugin,
  type PluginContext,
  provide,
  type Static,
} from "@mantel/plugin-sdk";
import { Agenda } from "./agenda.ts";
import { CalendarMemory, SourceFacts } from "./calendar-memory.ts";
import { followFolder } from "./files/folder.ts";
import { findZone, UTC } from "./ics/zones.ts";
import { addressesOf, Options, type SourceOptions, type WebOptions } from "./options.ts";
import { Refresher } from "./refresher.ts";
import { addCalendars } from "./setup/add-calendars.ts";
import { Source } from "./source.ts";
import { StoredObjects, type StoredObjectsDependencies } from "./stored-objects.ts";
import { tasksOf, TaskWriter } from "./task-writer.ts";
import { UnfinishedChanges } from "./unfinished-changes.ts";
import { Account } from "./web/account.ts";
import { AccessTokens } from "./web/oauth.ts";
import { storageKey, Subscription, removeUnusedCalendars } from "./web/subscription.ts";
import { Writer } from "./writer.ts";

type Context = PluginContext<Static<typeof Options>, unknown>;

/** Calendars of files in the calendars folder, of addresses on the web, and of accounts. */
export default definePlugin({
  options: Options,
  state: SourceFacts,

  /** Finds calendars by a mail address or the address of a server. */
  setup: (ctx) => addCalendars(ctx),

  /** Within a reload calendars are read and worked out while the old code still answers. */
  async connect(ctx) {
    const { timeZone, locale } = ctx.home;
    const shared = { floating: findZone(timeZone) ?? UTC, locale };
    const onFault = (error: unknown) => ctx.log.error("could not update the calendars", { error });
    const stage = { isLive: false };
    const agenda = new Agenda({
      zone: shared.floating,
      now: Date.now,
      publish: async (window) => {
        if (stage.isLive) await ctx.publish("calendar.window", window);
      },
      onFault,
    });
    ctx.onDispose(agenda.watchDays());

    const entries = Object.entries(ctx.config.sources);
    const folder = ctx.folder("calendars");
    const web = entries.flatMap(([id, { url, caFile, ...rest }]) => {
      const authorityFile = caFile === undefined ? undefined : join(folder, caFile);
      const { oauth, allowPrivate } = rest;
      const tokens = oauth && new AccessTokens({ ...ctx, oauth, allowPrivate });
      return url ? [{ ...rest, id, url, authorityFile, tokens }] : [];
    });
    const fileSettings = entries.filter(([, { url }]) => url === undefined);
    const readers = await restore(ctx, { web, agenda, shared });
    const files = await followFolder({
      ...shared,
      path: folder,
      isTaken: (id) => web.some((each) => each.id === id || id.startsWith(`${each.id}-`)),
      settings: new Map<string, SourceOptions>(fileSettings),
      add: (source) => agenda.add(source),
      remove: (id) => agenda.remove(id),
      changed: agenda.changed,
      onFault,
    });
    ctx.onDispose(files.close);
    await agenda.publish();
    return {
      agenda,
      readers,
      files,
      stage,
      keys: web.flatMap((each) => [storageKey(each), ...(each.tokens ? [each.tokens.key] : [])]),
    };
  },

  async start(
    { storage, log, home, onDispose, handedOver },
    { agenda, readers, files, stage, keys },
  ) {
    const memory = new CalendarMemory(storage);
    await memory.recall(agenda, handedOver);
    stage.isLive = true;
    const removing = removeUnusedCalendars(storage, keys).catch((error: unknown) => {
      log.warn("could not delete stored data of removed calendars", { error });
    });
    onDispose(() => removing); // callers need not wait for it
    const running = readers.map(async ({ reader, restored }) => {
      await restored;
      await reader.run();
    });
    onDispose(async () => {
      // without them only the time of the last confirmation is missing
      await memory.keepConfirmations(agenda).catch((error: unknown) => {
        log.warn("could not store when calendars were confirmed", { error });
      });
      await Promise.all(running);
    });
    await agenda.publish();
    await memory.keepPrivate(agenda);

    const refresher = new Refresher({
      agenda,
      files,
      readers: readers.map(({ reader }) => reader),
    });
    const accounts = readers.flatMap(({ reader }) => (reader instanceof Account ? [reader] : []));
    const writing: StoredObjectsDependencies = {
      find: (id) => accounts.map((each) => each.calendarOf(id)).find((each) => each !== undefined),
      has: (id) => agenda.find(id) !== undefined,
      publish: () => agenda.publishNow(),
      zone: findZone(home.timeZone) ?? UTC,
    };
    const objects = new StoredObjects(writing, "event");
    const unfinished = new UnfinishedChanges({ storage, log, objects, find: writing.find });
    onDispose(() => unfinished.close());
    const writer = new Writer({ ...writing, objects, unfinished, locale: home.locale });
    const taskWriter = new TaskWriter(writing);
    await unfinished.start();
    return {
      services: [
        provide(calendarEvents, ({ start, end }) =>
          agenda.eventsIn({ from: Date.parse(start), to: Date.parse(end) }),
        ),
        provide(calendarChange, (change) => writer.change(change)),
        provide(calendarRefresh, ({ id }) => refresher.refresh(id)),
        provide(calendarTasks, () => tasksOf(accounts)),
        provide(calendarTaskChange, (change) => taskWriter.change(change)),
      ],
      handOver: () => memory.handOver(agenda),
      canRest: () => readers.length === 0 && agenda.sources.length === 0,
    };
  },
});

interface Dependencies {
  readonly web: readonly WebOptions[];
  readonly agenda: Agenda;
  readonly shared: ConstructorParameters<typeof Account>[0]["shared"];
}

/** A calendar or account on the web. It is downloaded after its stored copy has been read. */
interface Reading {
  readonly reader: Account | Subscription;
  readonly restored: Promise<void>;
}

/** Maximum wait of the start for the stored copies. */
const RESTORING_MS = 2_000;

/** Reads what was kept of the web. It is there when this resolves, unless that takes too long. */
async function restore(ctx: Context, { web, agenda, shared }: Dependencies): Promise<Reading[]> {
  const { config, storage, log, signal } = ctx;
  const taken = new Set(Object.keys(config.sources));
  const readers = web.map((each) => {
    const refreshMs = (each.refreshSeconds ?? config.refreshSeconds) * 1000;
    const polling = { refreshMs, storage, log, signal, changed: agenda.changed };
    const reader = readerOf(each, { polling, agenda, shared, taken });
    const restored = reader.restore().catch((error: unknown) => {
      log.error("could not restore the stored events of a calendar", { calendar: each.id, error });
    });
    return { reader, restored };
  });
  const tooLate = delay(RESTORING_MS, undefined, { ref: false });
  await Promise.race([Promise.all(readers.map(({ restored }) => restored)), tooLate]);
  return readers;
}

function readerOf(
  web: WebOptions,
  {
    polling,
    agenda,
    shared,
    taken,
  }: Omit<Dependencies, "web"> & {
    readonly polling: Omit<ConstructorParameters<typeof Subscription>[0], "feed" | "source">;
    readonly taken: ReadonlySet<string>;
  },
): Account | Subscription {
  const add = (source: Source) => agenda.add(source);
  if (web.kind !== undefined && web.kind !== "feed") {
    const remove = (id: string) => agenda.remove(id);
    return new Account({ ...polling, account: web, kind: web.kind, shared, taken, add, remove });
  }
  const { id } = web;
  const addresses = addressesOf(web);
  const source = new Source({ ...shared, id, addresses, settings: web, fallbackName: id });
  add(source);
  return new Subscription({ ...polling, feed: web, source });
}
