import { definePlugin, handle, homeNotify, MantelError, provide } from "@mantel/plugin-sdk";
import { Browsers } from "./browsers.ts";
import { openKeys } from "./keys.ts";
import { Options } from "./options.ts";
import { browsersRoute, keyRoute, renewRoute, subscribeRoute, unsubscribeRoute } from "./routes.ts";
import { type Outcome, send } from "./send.ts";

/** Sends the messages of the home to browsers that have subscribed to them (W3C Push API). */
export default definePlugin({
  options: Options,

  async start({ config, storage, signal, status, log }) {
    const keys = await openKeys(storage);
    const browsers = await Browsers.open(storage, config.services ?? []);
    const sender = { keys, contact: config.contact, title: config.title, signal };

    const sendTo = async (people: readonly string[], message: string): Promise<void> => {
      const outcomes = await Promise.all(
        browsers.of(people).map(async (browser): Promise<Outcome> => {
          const outcome = await send(browser, message, sender);
          if (outcome !== "gone") return outcome;
          await browsers.remove(browser.id);
          log.info("a browser has ended its subscription", { name: browser.name });
          return outcome;
        }),
      );
      const failure = outcomes.find((outcome) => typeof outcome !== "string");
      if (failure === undefined) return status.ok();
      const sentence = `a message was not sent: ${failure.reason}`;
      status.degraded(sentence);
      throw new MantelError("service_unavailable", sentence);
    };

    return {
      services: [provide(homeNotify, ({ message, to = [] }) => sendTo(to, message))],
      routes: [
        handle(keyRoute, () => ({ json: { publicKey: keys.publicKey } })),
        handle(subscribeRoute, async ({ body }) => ({
          status: 201,
          json: { id: await browsers.add(body) },
        })),
        handle(renewRoute, async ({ body: { subscription, replaces } }) => ({
          json: { id: await browsers.renew(replaces, subscription) },
        })),
        handle(unsubscribeRoute, async ({ params }) => {
          if (await browsers.remove(params.id)) return {};
          throw new MantelError("not_found", "no browser has this subscription");
        }),
        handle(browsersRoute, () => ({
          json: {
            browsers: browsers.all.map(({ id, name, person, since }) => ({
              id,
              name,
              since,
              ...(person !== undefined && { person }),
            })),
          },
        })),
      ],
    };
  },
});
