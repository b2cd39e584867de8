import { directionOf } from "@mantel/plugin-sdk/ui/drag";
import { openEventForm } from "@mantel/plugin-sdk/ui/event-form";
import {
  type CalendarWindow,
  defineWidget,
  s,
  type WidgetContext,
} from "@mantel/plugin-sdk/widget";
import { signal } from "@preact/signals-core";
import { html, nothing, render, type TemplateResult } from "lit";
import { dayList } from "./widget/day-list.ts";
import { eventsByDate, type Event } from "./widget/events.ts";
import {
  addDays,
  addMonths,
  dateIn,
  type Month,
  middayOf,
  monthOf,
  weekStart,
} from "./widget/month.ts";
import styles from "./widget.css";
import cardStyles from "@mantel/plugin-sdk/ui/card.css";

/** Minimum height for the events of the chosen day below or beside the month, in CSS pixels. */
const TALL_PX = 430;
const WIDE_PX = 600;
const MOST_DOTS = 3;
/** Maximum letters of a weekday in a column. Arabic has no shorter names than the full ones. */
const LONGEST_WEEKDAY = 4;
const KEYS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  ArrowUp: -7,
  ArrowDown: 7,
};

const settings = {
  calendars: s.list(s.text({ title: "Calendar" }), { max: 50 }),
  weekNumbers: s.bool({ title: "Week numbers" }),
};
type Context = WidgetContext<typeof settings, { chosen: string }>;
type Months = ReadonlyMap<string, ReadonlyMap<string, readonly Event[]>>;

export default defineWidget<typeof settings, { chosen: string }>({
  name: "Month",
  icon: "mdi:calendar-month",
  size: { default: [4, 11], min: [3, 9] },
  texts: {
    de: {
      "New event": "Neuer Termin",
      Month: "Monat",
      Calendar: "Kalender",
      "Week numbers": "Wochennummern",
      "Previous month": "Voriger Monat",
      "Next month": "Nächster Monat",
      Today: "Heute",
      Week: "Woche",
      "{day}, {count} events": "{day}, {count} Termine",
      "{day}, one event": "{day}, ein Termin",
      "Nothing on this day": "Nichts an diesem Tag",
      "all day": "ganztags",
    },
  },
  settings,
  styles: cardStyles + styles,
  mount(root, ctx) {
    const today = signal(dateIn(Date.now(), ctx.timeZone.peek()));
    const chosen = signal(ctx.handedOver?.chosen ?? today.peek());
    const months = signal<Months>(new Map());
    ctx.every(30_000, () => (today.value = dateIn(Date.now(), ctx.timeZone.value)));

    const load = async (month: Month): Promise<void> => {
      const events = await readMonth(ctx, month);
      if (events && !ctx.signal.aborted) {
        months.value = new Map(months.peek()).set(month.id, events);
      }
    };
    // The calendar channel signals changes. The shown month may be outside its time range.
    const calendar = ctx.channel("calendar");
    ctx.effect(() => {
      void calendar.value;
      void load(shownMonth());
    });

    ctx.effect(() => {
      const month = shownMonth();
      const events = months.value.get(month.id) ?? new Map<string, readonly Event[]>();
      render(
        page(ctx, { month, events, today: today.value, chosen: chosen.value, go, opening }),
        root,
      );
    });
    return { handOver: () => ({ chosen: chosen.peek() }) };

    function shownMonth(): Month {
      return monthOf(chosen.value, weekStart(ctx.locale.value));
    }

    /** Opens the form of an event, or of a new one on the chosen day; undefined where nothing can be changed. */
    function opening(shown?: Event): (() => void) | undefined {
      const calendars = (calendar.value?.sources ?? []).filter((source) => source.writable);
      const id = shown ? shown.event.calendarId : calendars[0]?.id;
      if (!calendars.some((each) => each.id === id)) return undefined;
      return () => openEventForm(shown ? { event: shown.event } : { date: chosen.peek() });
    }

    function go(date: string, { focus }: { focus: boolean }): void {
      chosen.value = date;
      if (focus) root.querySelector<HTMLElement>(`[data-date="${date}"]`)?.focus();
    }
  },
});

async function readMonth(
  ctx: Context,
  { dates }: Month,
): Promise<ReadonlyMap<string, readonly Event[]> | undefined> {
  const [start = ""] = dates;
  const end = addDays(dates.at(-1) ?? start, 1);
  const timeZone = ctx.timeZone.value;
  const { calendars } = ctx.settings.value;
  const query = new URLSearchParams({ start, end, tz: timeZone });
  try {
    const answer = await ctx.read(`/calendar/events?${query}`);
    const window = (await answer.json()) as CalendarWindow;
    return eventsByDate(window, { timeZone, calendars, dates });
  } catch (error) {
    ctx.log.warn("could not load a month", error);
    return undefined; // the days are still shown
  }
}

interface Page {
  readonly month: Month;
  readonly events: ReadonlyMap<string, readonly Event[]>;
  readonly today: string;
  readonly chosen: string;
  readonly go: (date: string, options: { focus: boolean }) => void;
  readonly opening: (event?: Event) => (() => void) | undefined;
}

function page(ctx: Context, shown: Page): TemplateResult {
  const { width, height } = ctx.size.value;
  const wide = width >= WIDE_PX;
  const title = new Intl.DateTimeFormat(ctx.locale.value, {
    month: "long",
    year: "numeric",
    timeZone: "UTC",
  }).format(middayOf(shown.month.first));
  const list = wide || height >= TALL_PX;
  const { chosen, events, opening } = shown;
  return html`<section
    class="card ${wide ? "wide" : ""} ${ctx.online.value ? "" : "stale"}"
    aria-label=${title}
  >
    <div class="month">${header(ctx, title, shown)} ${table(ctx, shown)}</div>
    ${list ? dayList(ctx, { date: chosen, events: events.get(chosen) ?? [], opening }) : nothing}
  </section>`;
}

function header(
  { t }: Context,
  title: string,
  { chosen, today, go, opening }: Page,
): TemplateResult {
  const add = opening();
  const turn = (months: number) => () => go(addMonths(chosen, months), { focus: false });
  return html`<div class="head">
    <h2 aria-live="polite">${title}</h2>
    ${
      chosen === today
        ? nothing
        : html`<button class="today" @click=${() => go(today, { focus: false })}>
            ${t("Today")}
          </button>`
    }
    ${
      add
        ? html`<button class="add" aria-label=${t("New event")} @click=${add}>
            <mantel-icon name="mdi:plus"></mantel-icon>
          </button>`
        : nothing
    }
    <button class="turn" aria-label=${t("Previous month")} @click=${turn(-1)}>
      <mantel-icon name="mdi:chevron-left"></mantel-icon>
    </button>
    <button class="turn" aria-label=${t("Next month")} @click=${turn(1)}>
      <mantel-icon name="mdi:chevron-right"></mantel-icon>
    </button>
  </div>`;
}

function table(ctx: Context, shown: Page): TemplateResult {
  const { weekNumbers } = ctx.settings.value;
  const { weeks } = shown.month;
  const names = (weekday: "narrow" | "short" | "long"): string[] =>
    daysOf(ctx.locale.value, weeks[0]?.dates ?? [], weekday);
  const short = names("short");
  const heads = short.some(({ length }) => length > LONGEST_WEEKDAY) ? names("narrow") : short;
  return html`<table role="grid" @keydown=${(event: KeyboardEvent) => moveByKey(event, shown)}>
    <thead>
      <tr>
        ${weekNumbers ? html`<th scope="col"><span class="unseen">${ctx.t("Week")}</span></th>` : nothing}
        ${names("long").map((name, index) => html`<th scope="col" abbr=${name}>${heads[index]}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${weeks.map(
        ({ number, dates }) =>
          html`<tr>
            ${weekNumbers ? html`<th scope="row">${number}</th>` : nothing}
            ${dates.map((date) => html`<td role="gridcell">${day(ctx, date, shown)}</td>`)}
          </tr>`,
      )}
    </tbody>
  </table>`;
}

function daysOf(
  locale: string,
  dates: readonly string[],
  weekday: "narrow" | "short" | "long",
): string[] {
  const format = new Intl.DateTimeFormat(locale, { weekday, timeZone: "UTC" });
  return dates.map((date) => format.format(middayOf(date)));
}

function day(
  ctx: Context,
  date: string,
  { month, events, today, chosen, go }: Page,
): TemplateResult {
  const own = events.get(date) ?? [];
  const spoken = ctx.fmt.date(middayOf(date));
  const name =
    own.length === 0
      ? spoken
      : ctx.t(own.length === 1 ? "{day}, one event" : "{day}, {count} events", {
          day: spoken,
          count: own.length,
        });
  return html`<button
    data-date=${date}
    class=${date.startsWith(month.id) ? "" : "other"}
    tabindex=${date === chosen ? 0 : -1}
    aria-label=${name}
    aria-current=${date === today ? "date" : nothing}
    aria-pressed=${date === chosen}
    @click=${() => go(date, { focus: false })}
  >
    <span class="number">${ctx.fmt.number(Number(date.slice(8)))}</span>
    <span class="dots">
      ${own.slice(0, MOST_DOTS).map(({ color }) => html`<i .style=${`--color: ${color}`}></i>`)}
    </span>
  </button>`;
}

function moveByKey(event: KeyboardEvent, { chosen, go }: Page): void {
  const { key, currentTarget } = event;
  const days = KEYS[key];
  if (days === undefined || !(currentTarget instanceof Element)) return;
  event.preventDefault();
  const along = Math.abs(days) === 1 ? directionOf(currentTarget) : 1;
  go(addDays(chosen, days * along), { focus: true });
}
