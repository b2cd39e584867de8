import { type Static, Type } from "@mantel/plugin-sdk";

/** As ntfy names its topics. */
const TOPIC = { pattern: "^[-_A-Za-z0-9]{1,64}$" };

/** The server, the topics of the home and of people, and the token. */
export const Options = Type.Object({
  topic: Type.String({
    title: "Topic",
    description:
      "Subscribe to it in the ntfy app. Without a token anyone who knows it can read along: choose a long random one.",
    ...TOPIC,
  }),
  people: Type.Optional(
    Type.Array(
      Type.Object({
        name: Type.String({ title: "Name", minLength: 1, maxLength: 200 }),
        topic: Type.String({ title: "Topic", ...TOPIC }),
      }),
      {
        title: "Topics of people",
        description: "A message to one of these names goes to this topic only.",
        maxItems: 50,
      },
    ),
  ),
  server: Type.String({
    title: "Server",
    description: "The address of ntfy.sh, or of your own server.",
    pattern: "^https?://[^\\s/?#]+(/[^\\s?#]*)?$",
    maxLength: 1_000,
    default: "https://ntfy.sh",
  }),
  token: Type.Optional(
    Type.String({
      title: "Access token",
      description: "Only for topics that are protected.",
      pattern: "^[\\x21-\\x7e]{1,200}$",
      writeOnly: true,
    }),
  ),
  title: Type.String({ title: "Heading", maxLength: 200, default: "Mantel" }),
});
export type Options = Static<typeof Options>;
