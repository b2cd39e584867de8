import { type Static, Type } from "typebox";
import { Strict } from "../schema.ts";
import { defineService } from "../service.ts";

/** A message to people. */
export const HomeNotification = Type.Object(
  {
    message: Type.String({ minLength: 1, maxLength: 10_000 }),
    /** The names of the receivers; absent means the provider's default. */
    to: Type.Optional(Type.Array(Type.String({ maxLength: 200 }), { maxItems: 100 })),
    /** The name of what sends it, such as an automation; absent means the calling plugin. */
    from: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  },
  Strict,
);
export type HomeNotification = Static<typeof HomeNotification>;

/**
 * Sends a message to people; `ctx.home.notify` calls it. The dashboards show each message. Plugins provide it to send it
 * elsewhere as well, for example to a messenger.
 */
export const homeNotify = defineService("home.notify", {
  providers: "many",
  title: "Send a message",
  input: HomeNotification,
});
