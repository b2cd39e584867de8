import type { CalendarWindow, WidgetContext } from "@mantel/plugin-sdk/widget";
import type { Event, Span } from "./events.ts";
import type { settings } from "./settings.ts";

export type Context = WidgetContext<typeof settings, Chosen>;

/** The ways in which the tile shows events. */
export type View = "month" | "week" | "day";

/** The day and the view that a user chose. */
export interface Chosen {
  readonly chosen: string;
  readonly view?: View;
}

/** All that a view draws, and the functions that its controls call. */
export interface Page {
  readonly view: View;
  /** The dates that are shown. */
  readonly dates: readonly string[];
  readonly spans: readonly Span[];
  readonly sources: CalendarWindow["sources"];
  readonly today: string;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly chosen: string;
  readonly go: (date: string, options?: { readonly focus: boolean }) => void;
  readonly show: (view: View) => void;
  /** Opens the form of an event, or of a new one; undefined for one that cannot be changed. */
  readonly opening: (event?: Event) => (() => void) | undefined;
}
