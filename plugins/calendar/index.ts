import { definePlugin, type Log } from "@mantel/plugin-sdk";
import { Agenda } from "./agenda.ts";
import { followFolder } from "./folder.ts";
import { type FeedOptions, Options } from "./options.ts";
import { Source } from "./source.ts";
import { Subscription, sweepKept } from "./subscription.ts";
import { findZone, UTC } from "./zones.ts";

/** Calendars of `.ics` files in the calendars folder, and of addresses on the web. */
export default definePlugin({
  options: Options,
  async start({ config, house, folder, storage, publish, log, signal, onDispose }) {
    const floating = findZone(house.timeZone) ?? UTC;
    const onFault = (error: unknown) => log.error("calendars have a fault", { error });
    const agenda = new Agenda({
      zone: floating,
      now: Date.now,
      publish: (window) => publish("calendar.window", window),
      onFault,
    });
    onDispose(agenda.watchDays());

    await sweepKept(storage, config.sources);
    const running: Promise<void>[] = [];
    onDispose(async () => void (await Promise.all(running)));
    for (const feed of distinct(config.sources, log)) {
      const source = new Source({ ...feed, fallbackName: feed.id, floating });
      const subscription = new Subscription({
        feed,
        source,
        refreshMs: config.refreshSeconds * 1000,
        storage,
        log,
        changed: agenda.changed,
        signal,
      });
      agenda.add(source);
      await subscription.restore();
      running.push(subscription.run());
    }

    onDispose(
      await followFolder({
        path: folder("calendars"),
        floating,
        taken: new Set(config.sources.map(({ id }) => id)),
        add: (source) => agenda.add(source),
        remove: (id) => agenda.remove(id),
        changed: agenda.changed,
        onFault,
      }),
    );
    await agenda.publish();

    return {
      services: {
        "calendar.events": ({ start, end }) =>
          agenda.eventsIn({ from: Date.parse(start), to: Date.parse(end) }),
      },
    };
  },
});

/** Two calendars cannot have one id: the first keeps it. */
function distinct(feeds: readonly FeedOptions[], log: Log): FeedOptions[] {
  return feeds.filter(({ id }, at) => {
    const first = feeds.findIndex((each) => each.id === id) === at;
    if (!first) log.error("two calendars have one id; the second is left out", { calendar: id });
    return first;
  });
}
