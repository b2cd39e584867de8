import { html } from "lit";
import type { Event } from "./events.ts";

/** The title of an event, struck through if it was declined. */
export function titleView({ title, event }: Pick<Event, "title" | "event">): unknown {
  return event.attendance === "declined" ? html`<s>${title}</s>` : title;
}
