import { definePlugin, type Log, type PluginContext, type Static } from "@mantel/plugin-sdk";
import { Agenda } from "./agenda.ts";
import { followFolder } from "./folder.ts";
import { type FeedOptions, Options } from "./options.ts";
import { Source } from "./source.ts";
import { Subscription, sweepKept } from "./subscription.ts";
import { findZone, UTC, type Zone } from "./zones.ts";

/** Calendars of `.ics` files in the calendars folder, and of addresses on the web. */
export default definePlugin({
  options: Options,
  async start(ctx) {
    const floating = findZone(ctx.house.timeZone) ?? UTC;
    const onFault = (error: unknown) => ctx.log.error("calendars have a fault", { error });
    const agenda = new Agenda({
      zone: floating,
      now: Date.now,
      publish: (window) => ctx.publish("calendar.window", window),
      onFault,
    });
    ctx.onDispose(agenda.watchDays());

    const feeds = distinct(ctx.config.sources, ctx.log);
    await subscribe(ctx, { feeds, agenda, floating });
    const stopFollowing = await followFolder({
      path: ctx.folder("calendars"),
      floating,
      taken: new Set(feeds.map(({ id }) => id)),
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

/** Begins to read the calendars on the web. What was kept of them is there when this resolves. */
async function subscribe(
  ctx: PluginContext<Static<typeof Options>, undefined>,
  { feeds, agenda, floating }: { feeds: readonly FeedOptions[]; agenda: Agenda; floating: Zone },
): Promise<void> {
  const { config, storage, log, signal } = ctx;
  await sweepKept(storage, feeds);
  const running: Promise<void>[] = [];
  ctx.onDispose(async () => void (await Promise.all(running)));
  for (const feed of feeds) {
    const source = new Source({ ...feed, fallbackName: feed.id, floating });
    const refreshMs = config.refreshSeconds * 1000;
    const changed = agenda.changed;
    const options = { feed, source, refreshMs, storage, log, changed, signal };
    const subscription = new Subscription(options);
    agenda.add(source);
    await subscription.restore();
    running.push(subscription.run());
  }
}

/** Two calendars cannot have one id: the first keeps it. */
function distinct(feeds: readonly FeedOptions[], log: Log): FeedOptions[] {
  return feeds.filter(({ id }, at) => {
    const first = feeds.findIndex((each) => each.id === id) === at;
    if (!first) log.error("two calendars have one id; the second is left out", { calendar: id });
    return first;
  });
}
