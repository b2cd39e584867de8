import { type Static, Type } from "@mantel/plugin-sdk";

const Strict = { additionalProperties: false } as const;

/** One calendar on the web. */
export const FeedOptions = Type.Object(
  {
    id: Type.String({ pattern: "^[a-z0-9]+(-[a-z0-9]+)*$", maxLength: 60, title: "Id" }),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 100, title: "Name" })),
    /** As good as a password at most providers, so it is never shown. */
    url: Type.String({
      writeOnly: true,
      pattern: "^(https?|webcals?)://",
      maxLength: 2000,
      title: "Address of the calendar (.ics)",
    }),
    color: Type.Optional(Type.String({ pattern: "^#[0-9a-fA-F]{6}$", title: "Colour" })),
    /** Needed for a server in the home's own network. */
    allowPrivate: Type.Optional(Type.Boolean({ title: "It is in the local network" })),
    username: Type.Optional(Type.String({ maxLength: 200, title: "User name" })),
    password: Type.Optional(Type.String({ maxLength: 500, title: "Password", writeOnly: true })),
  },
  Strict,
);
export type FeedOptions = Static<typeof FeedOptions>;

export const Options = Type.Object(
  {
    refreshSeconds: Type.Integer({
      default: 900,
      minimum: 60,
      maximum: 86_400,
      title: "Seconds between two looks at a calendar on the web",
    }),
    defaultDays: Type.Integer({ default: 14, minimum: 1, maximum: 366, title: "Days shown" }),
    sources: Type.Array(FeedOptions, { default: [], maxItems: 50, title: "Calendars on the web" }),
  },
  Strict,
);
