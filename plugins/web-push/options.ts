import { type Static, Type } from "@mantel/plugin-sdk";

/** The contact, and push services besides those of the known browsers. */
export const Options = Type.Object({
  contact: Type.String({
    title: "Your mail address",
    description: "Browsers' makers see it and write to it if something is wrong with the messages.",
    pattern: "^[^\\s@<>]{1,64}@[^\\s@<>]{1,255}$",
    examples: ["anna@example.org"],
  }),
  title: Type.String({ title: "Heading", maxLength: 200, default: "Mantel" }),
  services: Type.Optional(
    Type.Array(Type.String({ pattern: "^https?://[^\\s/?#]+$", maxLength: 300 }), {
      title: "More push services",
      description: "The addresses of push services besides those of the known browsers.",
      maxItems: 10,
    }),
  ),
});
export type Options = Static<typeof Options>;
