import { html, nothing, type TemplateResult } from "lit";
import { type Bar, barsOf, type Block, blocksOf, type Column } from "./lanes.ts";
import { weekdaysOf } from "./month-table.ts";
import { minuteIn } from "./month.ts";
import type { Context, Page } from "./page.ts";
import { titleView } from "./title-view.ts";

/** The hours that are always shown. */
const DAYTIME = { from: 8, to: 20 };
/** Heights of the styles, in CSS pixels: what is above the hours, a line of bars, two lines of text. */
const ABOVE_PX = 120;
const BAR_PX = 30;
const TWO_LINES_PX = 42;
const LEAST_HOUR_PX = 28;

interface Hours {
  readonly from: number;
  readonly to: number;
}

/** Days, or the calendars of one day, side by side: their hours, with bars of whole days above. */
export function weekView(ctx: Context, page: Page): TemplateResult {
  const columns = columnsOf(ctx, page);
  const timeZone = ctx.timeZone.value;
  const bars = barsOf(page.spans, columns);
  const blocks = columns.map((column) => blocksOf(page.spans, column, timeZone));
  const hours = hoursOf(blocks.flat());
  const lanes = Math.max(0, ...bars.map(({ lane }) => lane + 1));
  const room = ctx.size.value.height - ABOVE_PX - lanes * BAR_PX;
  const hourPx = Math.max(LEAST_HOUR_PX, room / (hours.to - hours.from));
  const sizes = `--columns: ${columns.length}; --hours: ${hours.to - hours.from}`;
  return html`<div
    class="week"
    .style=${sizes}
    tabindex="0"
    role="group"
    aria-label=${ctx.t("Events")}
  >
    <div class="heads">${columns.map((column, at) => head(ctx, column, at, page))}</div>
    ${
      bars.length === 0
        ? nothing
        : html`<ul class="bars" aria-label=${ctx.t("all day")}>
            ${bars.map((bar) => barItem(bar, page))}
          </ul>`
    }
    <div class="hours">
      ${lines(ctx, hours)}
      ${columns.map((column, at) => dayColumn(ctx, { column, at, hours, hourPx }, blocks[at] ?? [], page))}
    </div>
  </div>`;
}

/** Each date; of a single date its calendars, as far as they have events or there are few. */
function columnsOf(ctx: Context, { view, dates, sources }: Page): readonly Column[] {
  const [date = ""] = dates;
  const chosen = ctx.settings.value.calendars;
  const calendars = sources.filter(({ id }) => chosen.length === 0 || chosen.includes(id));
  return view === "day" && calendars.length > 1
    ? calendars.map(({ id }) => ({ date, calendarId: id }))
    : dates.map((each) => ({ date: each }));
}

function head(ctx: Context, column: Column, at: number, page: Page): TemplateResult {
  const { date, calendarId } = column;
  const source = page.sources.find(({ id }) => id === calendarId);
  if (source) {
    return html`<div class="column-head" id="column-${at}" .style=${`--color: ${source.color}`}>
      <i></i><b>${source.name}</b>
    </div>`;
  }
  const [weekday] = weekdaysOf(ctx.locale.value, [date], "short");
  return html`<button
    class="column-head"
    id="column-${at}"
    data-date=${date}
    aria-current=${date === page.today ? "date" : nothing}
    @click=${() => {
      page.go(date);
      page.show("day");
    }}
  >
    <span class="unseen">${ctx.fmt.date(date)}</span><span aria-hidden="true">${weekday}</span
    ><b aria-hidden="true">${ctx.fmt.number(Number(date.slice(8)))}</b>
  </button>`;
}

function barItem({ span, from, columns, lane, before, after }: Bar, page: Page): TemplateResult {
  const place = `--color: ${span.color}; grid-area: ${lane + 1} / ${from + 1} / auto / span ${columns}`;
  const open = page.opening(span);
  return html`<li class="bar ${before ? "before" : ""} ${after ? "after" : ""}" .style=${place}>
    ${open ? html`<button @click=${open}>${titleView(span)}</button>` : titleView(span)}
  </li>`;
}

function lines(ctx: Context, { from, to }: Hours): TemplateResult {
  const hours = Array.from({ length: to - from }, (_, index) => from + index);
  const hour = { hour: "numeric", timeZone: "UTC" } as const;
  const short = new Intl.DateTimeFormat(ctx.locale.value, hour);
  const clock = short.resolvedOptions().hour12
    ? short
    : new Intl.DateTimeFormat(ctx.locale.value, { ...hour, minute: "2-digit" });
  return html`<div class="scale" aria-hidden="true">
    ${hours.map((each) => html`<span>${clock.format(Date.UTC(2026, 0, 1, each))}</span>`)}
  </div>`;
}

interface Day {
  readonly column: Column;
  readonly at: number;
  readonly hours: Hours;
  readonly hourPx: number;
}

function dayColumn(ctx: Context, day: Day, blocks: readonly Block[], page: Page): TemplateResult {
  const { hours, column, at } = day;
  const minute = minuteIn(page.now, ctx.timeZone.value) - hours.from * 60;
  const isNow = column.date === page.today && minute >= 0 && minute < (hours.to - hours.from) * 60;
  return html`<div
    role="group"
    class="column ${column.date === page.today ? "current" : ""}"
    aria-labelledby="column-${at}"
  >
    <ul>
      ${blocks.map((block) => blockItem(ctx, block, day, page))}
    </ul>
    ${isNow ? html`<hr aria-hidden="true" .style=${`--at: ${minute / 60}`} />` : nothing}
  </div>`;
}

function blockItem(ctx: Context, block: Block, { hours, hourPx }: Day, page: Page): TemplateResult {
  const { span, from, to, side, sides } = block;
  const { color, startAt = 0, endAt = 0, location } = span;
  const start = from / 60 - hours.from;
  const long = (to - from) / 60;
  const place = `--color: ${color}; --at: ${start}; --long: ${long}; --side: ${side}; --sides: ${sides}`;
  const open = page.opening(span);
  const when = ctx.fmt.time(startAt);
  const content = html`<b>${titleView(span)}</b
    ><span class=${long * hourPx < TWO_LINES_PX ? "unseen" : ""}
      >${location ? `${when} · ${location}` : when}</span
    >`;
  return html`<li class="block ${endAt <= page.now ? "past" : ""}" .style=${place}>
    ${open ? html`<button @click=${open}>${content}</button>` : html`<div>${content}</div>`}
  </li>`;
}

/** The hours in which something happens, and the day's in any case. */
function hoursOf(blocks: readonly Block[]): Hours {
  return {
    from: Math.min(DAYTIME.from, ...blocks.map(({ from }) => Math.floor(from / 60))),
    to: Math.max(DAYTIME.to, ...blocks.map(({ to }) => Math.ceil(to / 60))),
  };
}
