import { definePlugin, homeNotify, provide } from "@mantel/plugin-sdk";
import { Options } from "./options.ts";
import { send } from "./send.ts";

/** Sends the messages of the home to phones, through an ntfy server. */
export default definePlugin({
  options: Options,

  async test({ config, signal }) {
    await send(config, { topic: config.topic, message: "Mantel can send you messages." }, signal);
    return `a message was sent to the topic ${config.topic}`;
  },

  start({ config, signal, status }) {
    return {
      services: [
        provide(homeNotify, async ({ message, to = [] }) => {
          const topics = topicsOf(config, to);
          const sent = topics.map((topic) => send(config, { topic, message }, signal));
          const failure = (await Promise.allSettled(sent)).find(
            ({ status: outcome }) => outcome === "rejected",
          );
          if (failure?.status !== "rejected") return status.ok();
          status.degraded((failure.reason as Error).message);
          throw failure.reason;
        }),
      ],
    };
  },
});

/** The topics of these receivers; that of the home if none of them has one, so that no message is lost. */
function topicsOf({ topic, people = [] }: Options, to: readonly string[]): readonly string[] {
  const own = people.filter(({ name }) => to.includes(name)).map((person) => person.topic);
  return own.length === 0 ? [topic] : [...new Set(own)];
}
