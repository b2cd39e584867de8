import { type Static, Type } from "@mantel/plugin-sdk";

/** The address and account of a go2rtc server. */
export const Options = Type.Object({
  url: Type.String({
    title: "Address",
    description: "Where go2rtc answers.",
    pattern: "^https?://[^\\s@/?#]+(/[^\\s@?#]*)?$",
    maxLength: 500,
    examples: ["http://127.0.0.1:1984"],
  }),
  user: Type.Optional(
    Type.String({
      title: "User name",
      description: "Only if go2rtc asks for one.",
      pattern: "^[^:]+$",
      maxLength: 300,
    }),
  ),
  password: Type.Optional(
    Type.String({ title: "Password", minLength: 1, maxLength: 1_000, writeOnly: true }),
  ),
});
export type Options = Static<typeof Options>;
