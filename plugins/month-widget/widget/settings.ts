import { s } from "@mantel/plugin-sdk/widget";

export const settings = {
  view: s.choice(["month", "week", "day"], { title: "Shows" }),
  calendars: s.list(s.named("calendar", { title: "Calendar" }), { max: 50 }),
  weekNumbers: s.bool({ title: "Week numbers" }),
};
