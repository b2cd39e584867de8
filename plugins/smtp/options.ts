import { type Static, Type } from "@mantel/plugin-sdk";

/** One mail address (RFC 5321, 4.1.2) without comments or quotes. */
const ADDRESS = { pattern: '^[^\\s@<>,;:"()\\[\\]\\\\]{1,64}@[^\\s@<>,;:"()\\\\]{1,255}$' };

/** The mail server, its account, and the addresses of the home and of people. */
export const Options = Type.Object({
  server: Type.String({
    title: "Server",
    description:
      "Of your mail provider: smtps:// for TLS from the beginning (port 465), smtp:// for STARTTLS (port 587).",
    pattern: "^smtps?://([^\\s/?#:@\\[\\]]+|\\[[0-9A-Fa-f:.]+\\])(:\\d{1,5})?/?$",
    maxLength: 300,
    examples: ["smtps://mail.example.org"],
  }),
  user: Type.Optional(Type.String({ title: "User name", minLength: 1, maxLength: 300 })),
  password: Type.Optional(
    Type.String({
      title: "Password",
      description: "Many providers need an app password here.",
      minLength: 1,
      maxLength: 1_000,
      writeOnly: true,
    }),
  ),
  from: Type.String({
    title: "Sender",
    description: "The address of the account.",
    examples: ["home@example.org"],
    ...ADDRESS,
  }),
  to: Type.Array(Type.String(ADDRESS), {
    title: "Receivers",
    description: "They get every message that is not for certain people.",
    minItems: 1,
    maxItems: 20,
  }),
  people: Type.Optional(
    Type.Array(
      Type.Object({
        name: Type.String({ title: "Name", minLength: 1, maxLength: 200 }),
        address: Type.String({ title: "Address", ...ADDRESS }),
      }),
      {
        title: "Addresses of people",
        description: "A message to one of these names goes to this address only.",
        maxItems: 50,
      },
    ),
  ),
  title: Type.String({
    title: "Beginning of the subject",
    maxLength: 200,
    default: "Mantel",
  }),
});
export type Options = Static<typeof Options>;
