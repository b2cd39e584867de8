import {
  type CalendarWindow,
  defineWidget,
  s,
  type WidgetContext,
} from "@mantel/plugin-sdk/widget";
import { signal } from "@preact/signals-core";
import { html, nothing, render, type TemplateResult } from "lit";
import { type Day, daysOf, type Entry } from "./widget/days.ts";
import styles from "./widget.css";
import headingStyles from "@mantel/plugin-sdk/ui/heading.css";
import twoLineStyles from "@mantel/plugin-sdk/ui/two-lines.css";

/** Heights of the styles, in CSS pixels, used to draw only events that fit. */
const EVENT_PX = 64;
const HEADING_PX = 38;
const TWO_COLUMNS_PX = 560;
/** Within this time, "in 18 min" is more useful than a time of day. */
const SOON_MS = 90 * 60_000;
const PLAIN_COLOR = "#98cbff";

const settings = {
  calendars: s.list(s.named("calendar", { title: "Calendar" }), { max: 50 }),
  events: s.number({ title: "Maximum number of events", min: 1, max: 30, step: 1, default: 8 }),
};
type Context = WidgetContext<typeof settings, unknown>;

export default defineWidget({
  name: "Agenda",
  icon: "mdi:calendar-today",
  size: { default: [4, 14], min: [3, 5] },
  settings,
  styles: headingStyles + twoLineStyles + styles,
  mount(root, ctx) {
    const calendar = ctx.channel("calendar");
    const now = signal(ctx.now());
    ctx.every(30_000, () => (now.value = ctx.now()));

    ctx.effect(() => {
      const known = calendar.value;
      if (!known) return void render(nothing, root);
      const { calendars } = ctx.settings.value;
      const events = known.events.filter(
        ({ calendarId }) => calendars.length === 0 || calendars.includes(calendarId),
      );
      const days = daysOf(
        { ...known, events },
        { now: now.value, timeZone: ctx.timeZone.value, most: mostFor(ctx, root) },
      );
      if (known.sources.length === 0) return void render(noCalendar(ctx), root);
      const shown = days
        .slice(0, flows(root) ? 2 : days.length)
        .map((day) => daySection(ctx, day, { sources: known.sources, now: now.value }));
      render(html`${shown}${faults(ctx, known.sources)}`, root);
      root.host.toggleAttribute("stale", !ctx.online.value);
    });
  },
});

function noCalendar({ t }: Context): TemplateResult {
  return html`<mantel-setup kind="calendar">
    <p>
      <strong>${t("No calendar yet")}</strong><br />
      ${t("Add one in the settings.")}
    </p>
  </mantel-setup>`;
}

/** Messages about calendars that could not be read. */
function faults({ t }: Context, sources: CalendarWindow["sources"]): unknown {
  const broken = sources.filter(({ status }) => status === "error").map(({ name }) => name);
  const name = broken.join(", ");
  return name && html`<p role="status">${t("Could not read {name}", { name })}</p>`;
}

/** True if the tile's height follows its content, as on a phone. */
function flows(root: ShadowRoot): boolean {
  return root.host.hasAttribute("flow");
}

/** The number of events that fit, or a suitable number for a tile that grows. */
function mostFor(ctx: Context, root: ShadowRoot): number {
  const { events } = ctx.settings.value;
  const { width, height } = ctx.size.value;
  const columns = width >= TWO_COLUMNS_PX ? 2 : 1;
  if (flows(root)) return Math.min(events, 2 * columns);
  return Math.max(1, Math.min(events, Math.floor((height - 2 * HEADING_PX) / EVENT_PX)));
}

interface Known {
  readonly sources: CalendarWindow["sources"];
  readonly now: number;
}

function daySection(ctx: Context, day: Day, known: Known): TemplateResult {
  const left = day.entries.length;
  const title = titleOf(ctx, day);
  return html`<section class=${day.name} aria-label=${title}>
    <div class="head">
      <h2>
        <strong>${title}</strong>
        ${
          day.name === "today"
            ? html`<span
                >${left === 0 ? ctx.t("nothing left") : ctx.t("{count} left", { count: ctx.fmt.number(left) })}</span
              >`
            : nothing
        }
      </h2>
      ${day.name === "today" && known.sources.some(({ writable }) => writable) ? addButton(ctx, day) : nothing}
    </div>
    ${day.entries.map((entry) => eventRow(ctx, entry, known))}
  </section>`;
}

function addButton({ t }: Context, { date }: Day): TemplateResult {
  return html`<button class="add" aria-label=${t("New event")} data-new-event=${date}>
    <mantel-icon name="mdi:plus"></mantel-icon>
  </button>`;
}

function titleOf(ctx: Context, { name, date }: Day): string {
  if (name === "later") return ctx.fmt.date(date);
  return name === "today" ? ctx.t("Today") : ctx.t("Tomorrow");
}

function eventRow(ctx: Context, entry: Entry, { sources, now }: Known): TemplateResult {
  const { event, startAt } = entry;
  const source = sources.find(({ id }) => id === event.calendarId);
  const soon = nearness(ctx, entry, now);
  const details = [
    event.location ?? source?.name,
    event.travelMs && ctx.t("{count} min travel", { count: event.travelMs / 60_000 }),
    soon,
  ].filter(Boolean);
  const look = `event ${soon ? "near" : ""} ${event.status}`;
  const content = html`<time
      >${startAt === undefined ? ctx.t("all day") : ctx.fmt.time(startAt)}</time
    >
    <i .style=${`--color: ${colorOf(event.color ?? source?.color)}`}></i>
    <div class="two-lines">
      <b>${event.attendance === "declined" ? html`<s>${event.title}</s>` : event.title}</b>
      <span>${details.join(" · ")}</span>
    </div>`;
  return source?.writable || event.conference
    ? html`<button class=${look} data-event=${event.id}>${content}</button>`
    : html`<div class=${look}>${content}</div>`;
}

/** Only plain colours from feeds are used in styles, because feeds are untrusted. */
function colorOf(text: string | undefined): string {
  return text && /^#[0-9a-f]{6}$/i.test(text) ? text : PLAIN_COLOR;
}

/** "now", "in 18 min", or `undefined` if it is further away. */
function nearness(ctx: Context, { startAt, running }: Entry, now: number): string | undefined {
  if (running) return ctx.t("now");
  return startAt && startAt - now <= SOON_MS ? ctx.fmt.relative(startAt) : undefined;
}
