import { definePlugin, homeNotify, provide } from "@mantel/plugin-sdk";
import { Options } from "./options.ts";
import { send } from "./send.ts";

/** Sends the messages of the home by mail. */
export default definePlugin({
  options: Options,

  async test({ config, signal }) {
    await send(config, { to: config.to, message: "Mantel can send you messages." }, signal);
    return `a message was sent to ${config.to.join(", ")}`;
  },

  start({ config, signal, status }) {
    return {
      services: [
        provide(homeNotify, async ({ message, to = [] }) => {
          try {
            await send(config, { to: addressesOf(config, to), message }, signal);
            status.ok();
          } catch (error) {
            status.degraded((error as Error).message);
            throw error;
          }
        }),
      ],
    };
  },
});

/** The addresses of these people; those of the home if none of them has one, so that no message is lost. */
function addressesOf({ to, people = [] }: Options, names: readonly string[]): readonly string[] {
  const own = people.filter(({ name }) => names.includes(name)).map(({ address }) => address);
  return own.length === 0 ? to : [...new Set(own)];
}
