import { Type } from "typebox";

const TimeOfDay = Type.String({
  pattern: "^([01]\\d|2[0-3]):[0-5]\\d$",
  description: "a time of day such as 22:30",
});

export const THEMES = ["auto", "dark", "light", "night"] as const;

/** A span from one time of day to another, over midnight if `to` is the earlier one. */
export const NightSpan = Type.Object(
  { from: TimeOfDay, to: TimeOfDay },
  { additionalProperties: false },
);
