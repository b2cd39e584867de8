import { openEventForm } from "@mantel/plugin-sdk/ui/event-form";
import { type CalendarWindow, defineWidget } from "@mantel/plugin-sdk/widget";
import { computed, signal } from "@preact/signals-core";
import { html, nothing, render, type TemplateResult } from "lit";
import { dayList } from "./widget/day-list.ts";
import { type Event, eventsByDate, spansOf } from "./widget/events.ts";
import { pageHeader, titleOf } from "./widget/header.ts";
import { monthTable } from "./widget/month-table.ts";
import { addDays, dateIn, monthOf, weekOf, weekStart } from "./widget/month.ts";
import type { Chosen, Context, Page, View } from "./widget/page.ts";
import { settings } from "./widget/settings.ts";
import { weekView } from "./widget/week-view.ts";
import styles from "./widget.css";
import weekStyles from "./widget/week.css";
import cardStyles from "@mantel/plugin-sdk/ui/card.css";

/** Minimum sizes in CSS pixels: the chosen day's events below or beside the month, titles in its days. */
const TALL_PX = 430;
const WIDE_PX = 600;
const TITLED_BESIDE_PX = 900;
const TITLED_ABOVE = { width: 560, height: 680 };
/** Heights of the styles in CSS pixels: all but the days, the list below, a day's number, a title. */
const AROUND_PX = 92;
const LIST_PX = 190;
const NUMBER_PX = 36;
const TITLE_PX = 22;
/** The least width of a day with hours, and of the hours beside it. */
const COLUMN_PX = 88;
const SCALE_PX = 64;

export default defineWidget<typeof settings, Chosen>({
  name: "Month",
  icon: "mdi:calendar-month",
  size: { default: [4, 11], min: [3, 9] },
  texts: {
    de: {
      "New event": "Neuer Termin",
      Month: "Monat",
      Shows: "Zeigt",
      month: "einen Monat",
      week: "eine Woche mit Stunden",
      day: "einen Tag, die Kalender nebeneinander",
      Day: "Tag",
      Events: "Termine",
      Calendar: "Kalender",
      "Week numbers": "Wochennummern",
      "Previous month": "Voriger Monat",
      "Next month": "Nächster Monat",
      "Previous week": "Vorige Woche",
      "Next week": "Nächste Woche",
      "Previous day": "Voriger Tag",
      "Next day": "Nächster Tag",
      Today: "Heute",
      Week: "Woche",
      "Week {number}": "Woche {number}",
      "{day}, {count} events": "{day}, {count} Termine",
      "{day}, one event": "{day}, ein Termin",
      "Nothing on this day": "Nichts an diesem Tag",
      "all day": "ganztags",
    },
  },
  settings,
  styles: cardStyles + styles + weekStyles,
  mount(root, ctx) {
    const now = signal(ctx.now());
    ctx.every(30_000, () => (now.value = ctx.now()));
    const today = computed(() => dateIn(now.value, ctx.timeZone.value));
    const chosen = signal(ctx.handedOver?.chosen ?? today.peek());
    const turned = signal<View | undefined>(ctx.handedOver?.view);
    const windows = signal<ReadonlyMap<string, CalendarWindow>>(new Map());
    const shownView = (): View => turned.value ?? ctx.settings.value.view;
    const shownDates = (): readonly string[] => datesOf(ctx, shownView(), chosen.value);
    const load = async (dates: readonly string[]): Promise<void> => {
      const read = await readEvents(ctx, dates);
      if (read && !ctx.signal.aborted) {
        windows.value = new Map(windows.peek()).set(keyOf(dates), read);
      }
    };
    // The calendar channel signals changes. The shown days may be outside its time range.
    const calendar = ctx.channel("calendar");
    ctx.effect(() => {
      void calendar.value;
      void load(shownDates());
    });

    ctx.effect(() => {
      const dates = shownDates();
      const window = windows.value.get(keyOf(dates));
      const choice = { timeZone: ctx.timeZone.value, calendars: ctx.settings.value.calendars };
      const shown = {
        view: shownView(),
        dates,
        spans: window ? spansOf(window, choice) : [],
        sources: window?.sources ?? [],
        today: today.value,
        now: now.value,
        chosen: chosen.value,
        ...{ go, show, opening },
      };
      render(page(ctx, shown, root.host.hasAttribute("flow")), root);
    });
    return { handOver: () => handedOver(chosen.peek(), turned.peek()) };

    /**
     * Opens the form of an event, or of a new one on the chosen day; undefined where nothing can be changed. An event
     * that is only read opens if it has a meeting.
     */
    function opening(shown?: Event): (() => void) | undefined {
      const calendars = (calendar.value?.sources ?? []).filter((source) => source.writable);
      const id = shown ? shown.event.calendarId : calendars[0]?.id;
      const isWritable = calendars.some((each) => each.id === id);
      if (!isWritable && shown?.event.conference === undefined) return undefined;
      return () => openEventForm(shown ? { event: shown.event } : { date: chosen.peek() });
    }

    function go(date: string, { focus } = { focus: false }): void {
      chosen.value = date;
      if (focus) root.querySelector<HTMLElement>(`[data-date="${date}"]`)?.focus();
    }

    function show(view: View): void {
      turned.value = view;
    }
  },
});

const handedOver = (chosen: string, view?: View): Chosen => (view ? { chosen, view } : { chosen });

const keyOf = (dates: readonly string[]): string => `${dates[0]}/${dates.length}`;

/** The dates of a view around the chosen one. A narrow week has fewer days. */
function datesOf(ctx: Context, view: View, chosen: string): readonly string[] {
  const first = weekStart(ctx.locale.value);
  if (view === "day") return [chosen];
  if (view === "month") return monthOf(chosen, first).dates;
  const columns = Math.floor((ctx.size.value.width - SCALE_PX) / COLUMN_PX);
  return weekOf(chosen, first, Math.max(1, Math.min(7, columns)));
}

async function readEvents(
  ctx: Context,
  dates: readonly string[],
): Promise<CalendarWindow | undefined> {
  const [start = ""] = dates;
  const end = addDays(dates.at(-1) ?? start, 1);
  const query = new URLSearchParams({ start, end, tz: ctx.timeZone.value });
  try {
    const answer = await ctx.read(`/calendar/events?${query}`);
    return (await answer.json()) as CalendarWindow;
  } catch (error) {
    ctx.log.warn("could not load events", error);
    return undefined; // the days are still shown
  }
}

function page(ctx: Context, shown: Page, flows: boolean): TemplateResult {
  const stale = ctx.online.value ? "" : "stale";
  const header = pageHeader(ctx, shown);
  if (shown.view !== "month") {
    return html`<section class="card ${stale}" aria-label=${titleOf(ctx, shown)}>
      ${header} ${weekView(ctx, shown)}
    </section>`;
  }
  const month = monthOf(shown.chosen, weekStart(ctx.locale.value));
  const { lines, beside, list } = flows ? FLOWING : roomFor(ctx, month.weeks.length);
  const events = eventsByDate(shown.spans, [shown.chosen]).get(shown.chosen) ?? [];
  return html`<section
    class="card ${beside ? "wide" : ""} ${lines > 0 ? "with-titles" : ""} ${stale}"
    aria-label=${titleOf(ctx, shown)}
  >
    <div class="month">${header} ${monthTable(ctx, shown, month, lines)}</div>
    ${list ? dayList(ctx, { date: shown.chosen, events, opening: shown.opening }) : nothing}
  </section>`;
}

interface Room {
  /** Titles in each day; 0 if there is no room for them. */
  readonly lines: number;
  /** True if the events of the chosen day are beside the month. */
  readonly beside: boolean;
  /** True if there is room for the events of the chosen day. */
  readonly list: boolean;
}

/** A tile that grows with its content, as on a phone. */
const FLOWING: Room = { lines: 0, beside: false, list: true };

function roomFor(ctx: Context, weeks: number): Room {
  const { width, height } = ctx.size.value;
  const isBeside = width >= TITLED_BESIDE_PX && height >= TALL_PX;
  const isAbove = !isBeside && width >= TITLED_ABOVE.width && height >= TITLED_ABOVE.height;
  if (!isBeside && !isAbove) {
    const beside = width >= WIDE_PX;
    return { lines: 0, beside, list: beside || height >= TALL_PX };
  }
  const days = height - AROUND_PX - (isAbove ? LIST_PX : 0);
  const lines = Math.max(1, Math.floor((days / weeks - NUMBER_PX) / TITLE_PX));
  return { lines, beside: isBeside, list: true };
}
