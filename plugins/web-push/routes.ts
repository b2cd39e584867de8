import { defineRoute, Type } from "@mantel/plugin-sdk";

/** 32 hexadecimal digits that only its browser and editors know. */
const Id = Type.Object({ id: Type.String({ pattern: "^[0-9a-f]{32}$" }) });
const Base64Url = (length: number) => Type.String({ pattern: `^[A-Za-z0-9_-]{${length}}={0,2}$` });

/** A browser's subscription (Push API, `PushSubscription.toJSON`): P-256 key of 65 bytes, secret of 16. */
export const Subscription = Type.Object({
  endpoint: Type.String({ pattern: "^https?://", maxLength: 2_000 }),
  keys: Type.Object({ p256dh: Base64Url(87), auth: Base64Url(22) }),
});

const Named = {
  name: Type.String({ minLength: 1, maxLength: 100, description: "of the browser, for people" }),
  person: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: "gets messages to this name; every message if absent",
    }),
  ),
};

export const keyRoute = defineRoute({
  method: "GET",
  at: "/push",
  scope: "read",
  summary: "The key with which a browser subscribes to messages",
  response: Type.Object({ publicKey: Type.String() }),
});

export const subscribeRoute = defineRoute({
  method: "POST",
  at: "/push",
  scope: "read",
  summary: "Subscribe a browser to messages",
  body: Type.Object({ subscription: Subscription, ...Named }),
  response: Type.Object({ id: Type.String() }),
});

/** For a browser that has got another subscription; only it knows the endpoint of the one before. */
export const renewRoute = defineRoute({
  method: "PUT",
  at: "/push",
  scope: "read",
  summary: "Replace the subscription of a browser",
  body: Type.Object({
    subscription: Subscription,
    replaces: Type.String({ maxLength: 2_000, description: "the endpoint of the previous one" }),
  }),
  response: Type.Object({ id: Type.String() }),
});

export const unsubscribeRoute = defineRoute({
  method: "DELETE",
  at: "/push/:id",
  scope: "read",
  summary: "End the subscription of a browser",
  params: Id,
});

export const browsersRoute = defineRoute({
  method: "GET",
  at: "/push/browsers",
  scope: "edit",
  summary: "List the browsers that get messages",
  response: Type.Object({
    browsers: Type.Array(
      Type.Object({ id: Type.String(), ...Named, since: Type.String({ format: "date-time" }) }),
    ),
  }),
});
