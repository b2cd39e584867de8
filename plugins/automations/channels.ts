import { defineChannels, Type } from "@mantel/plugin-sdk";
import type { Trace } from "./engine/automation.ts";

/** The runs of automations, each whenever it changes. */
export const channels = defineChannels({
  run: {
    title: "Runs of automations",
    schema: Type.Unsafe<Trace>(
      Type.Object({ id: Type.String(), automation: Type.String(), result: Type.String() }),
    ),
    maxBytes: 131_072,
  },
});
