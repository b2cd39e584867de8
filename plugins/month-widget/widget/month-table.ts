import { directionOf } from "@mantel/plugin-sdk/ui/drag";
import { html, nothing, type TemplateResult } from "lit";
import { type Event, eventsByDate } from "./events.ts";
import { type Bar, barsOf } from "./lanes.ts";
import { addDays, type Month } from "./month.ts";
import type { Context, Page } from "./page.ts";
import { titleView } from "./title-view.ts";

const MOST_DOTS = 3;
/** Maximum letters of a weekday in a column. Arabic has no shorter names than the full ones. */
const LONGEST_WEEKDAY = 4;
const KEYS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  ArrowUp: -7,
  ArrowDown: 7,
};

/** The events of a month as its table shows them. */
interface Shown extends Page {
  readonly month: Month;
  /** The number of titles for which a day has room; 0 shows dots. */
  readonly lines: number;
  readonly events: ReadonlyMap<string, readonly Event[]>;
}

/** The days of a month, with the titles of their events where there is room, or a dot for each. */
export function monthTable(ctx: Context, page: Page, month: Month, lines: number): TemplateResult {
  const shown = { ...page, month, lines, events: eventsByDate(page.spans, month.dates) };
  const { weekNumbers } = ctx.settings.value;
  const names = (weekday: "narrow" | "short" | "long"): string[] =>
    weekdaysOf(ctx.locale.value, month.weeks[0]?.dates ?? [], weekday);
  const short = names("short");
  const heads = short.some(({ length }) => length > LONGEST_WEEKDAY) ? names("narrow") : short;
  return html`<table
    role="grid"
    class=${lines > 0 ? "titled" : ""}
    .style=${`--weeks: ${month.weeks.length}`}
    @keydown=${(event: KeyboardEvent) => moveByKey(event, page)}
  >
    <thead>
      <tr>
        ${weekNumbers ? html`<th class="week-number" scope="col"><span class="unseen">${ctx.t("Week")}</span></th>` : nothing}
        ${names("long").map((name, index) => html`<th scope="col" abbr=${name}>${heads[index]}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${month.weeks.map(({ number, dates }) => {
        const bars =
          lines > 0
            ? barsOf(
                page.spans,
                dates.map((date) => ({ date })),
              )
            : [];
        return html`<tr>
          ${weekNumbers ? html`<th class="week-number" scope="row">${number}</th>` : nothing}
          ${dates.map((date, at) => dayCell(ctx, { date, at, bars }, shown))}
        </tr>`;
      })}
    </tbody>
  </table>`;
}

/** The names of weekdays in a locale. */
export function weekdaysOf(
  locale: string,
  dates: readonly string[],
  weekday: "narrow" | "short" | "long",
): string[] {
  const format = new Intl.DateTimeFormat(locale, { weekday, timeZone: "UTC" });
  return dates.map((date) => format.format(Date.parse(date)));
}

interface Cell {
  readonly date: string;
  /** Index in its week. */
  readonly at: number;
  /** The bars of the week. */
  readonly bars: readonly Bar[];
}

function dayCell(ctx: Context, cell: Cell, shown: Shown): TemplateResult {
  const { date } = cell;
  const { month, today, chosen, events, lines, go } = shown;
  const own = events.get(date) ?? [];
  const name = nameOf(ctx, date, own.length);
  return html`<td role="gridcell">
    <button
      data-date=${date}
      class=${date.startsWith(month.id) ? "" : "other"}
      tabindex=${date === chosen ? 0 : -1}
      aria-label=${lines > 0 ? nothing : name}
      aria-current=${date === today ? "date" : nothing}
      aria-pressed=${date === chosen}
      @click=${() => go(date)}
    >
      ${lines > 0 ? html`<span class="unseen">${name}</span>` : nothing}
      <span class="number" aria-hidden=${lines > 0}>${ctx.fmt.number(Number(date.slice(8)))}</span>
      ${lines > 0 ? titles(ctx, own, cell, lines) : dots(own)}
    </button>
    ${cell.bars
      .filter(({ from, lane }) => from === cell.at && lane < lines)
      .map(
        (bar) =>
          html`<span
            class="bar ${bar.before ? "before" : ""} ${bar.after ? "after" : ""}"
            aria-hidden="true"
            .style=${`--color: ${bar.span.color}; --lane: ${bar.lane}; --days: ${bar.columns}`}
            >${titleView(bar.span)}</span
          >`,
      )}
  </td>`;
}

function nameOf(ctx: Context, date: string, count: number): string {
  const day = ctx.fmt.date(date);
  if (count === 0) return day;
  return ctx.t(count === 1 ? "{day}, one event" : "{day}, {count} events", { day, count });
}

function dots(events: readonly Event[]): TemplateResult {
  const shown = events.slice(0, MOST_DOTS);
  return html`<span class="dots"
    >${shown.map(({ color }) => html`<i .style=${`--color: ${color}`}></i>`)}</span
  >`;
}

/** The titles of timed events in the lines that bars leave free, and the number of those without a line. */
function titles(
  ctx: Context,
  events: readonly Event[],
  { at, bars }: Cell,
  lines: number,
): TemplateResult {
  const over = bars.filter(({ from, columns }) => from <= at && at < from + columns);
  const taken = new Set(over.map(({ lane }) => lane));
  const barEvents = new Set(over.map(({ span }) => span.event));
  const free = Array.from({ length: lines }, (_, line) => line).filter((line) => !taken.has(line));
  const timed = events.filter(({ event }) => !barEvents.has(event));
  const hidden = over.filter(({ lane }) => lane >= lines).length;
  const left = hidden + Math.max(0, timed.length - free.length);
  return html`${left > 0 ? html`<small aria-hidden="true">+${ctx.fmt.number(left)}</small>` : nothing}
  ${timed
    .slice(0, free.length)
    .map(
      ({ title, event, color, startAt }, index) =>
        html`<span class="title" .style=${`--color: ${color}; grid-row: ${(free[index] ?? 0) + 2}`}
          >${startAt === undefined ? nothing : html`<time>${ctx.fmt.time(startAt)}</time> `}${titleView({ title, event })}</span
        >`,
    )}`;
}

function moveByKey(event: KeyboardEvent, { chosen, go }: Page): void {
  const { key, currentTarget } = event;
  const days = KEYS[key];
  if (days === undefined || !(currentTarget instanceof Element)) return;
  event.preventDefault();
  const along = Math.abs(days) === 1 ? directionOf(currentTarget) : 1;
  go(addDays(chosen, days * along), { focus: true });
}
