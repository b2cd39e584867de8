import { defineChannels, Type } from "@mantel/plugin-sdk";

export const channels = defineChannels({
  size: {
    title: "The size of the history",
    schema: Type.Object({
      bytes: Type.Number(),
      /** Fields of devices that are recorded. */
      fields: Type.Integer(),
      store: Type.Enum(["sqlite", "postgres"]),
    }),
  },
});
