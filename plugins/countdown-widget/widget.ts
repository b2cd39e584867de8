import {
  type CalendarWindow,
  defineWidget,
  s,
  type WidgetContext,
} from "@mantel/plugin-sdk/widget";
import { computed, signal } from "@preact/signals-core";
import { html, nothing, render, type TemplateResult } from "lit";
import { dateIn, dateOf, daysBetween, type Goal, goalsIn } from "./widget/goals.ts";
import styles from "./widget.css";
import cardStyles from "@mantel/plugin-sdk/ui/card.css";

/** Events are looked for so far ahead. */
const AHEAD_MS = 365 * 86_400_000;
const HEAD_PX = 130;
const ROW_PX = 44;
const MOST_ROWS = 8;

const settings = {
  date: s.date({ title: "Date" }),
  title: s.text({ title: "Title of the date" }),
  word: s.text({ title: "Or a word in the title or category of events" }),
};
type Context = WidgetContext<typeof settings, unknown>;

export default defineWidget({
  name: "Countdown",
  icon: "mdi:calendar-star",
  size: { default: [3, 5], min: [2, 4] },
  settings,
  styles: cardStyles + styles,
  mount(root, ctx) {
    const now = signal(ctx.now());
    ctx.every(60_000, () => (now.value = ctx.now()));
    const today = computed(() => dateIn(now.value, ctx.timeZone.value));
    const events = signal<CalendarWindow["events"] | undefined>(undefined);
    const calendar = ctx.channel("calendar");
    ctx.effect(() => {
      void calendar.value; // a sign that events have changed
      if (ctx.settings.value.word.trim() !== "") void load(today.value);
    });

    ctx.effect(() => {
      const { word } = ctx.settings.value;
      const goal = goalOf(ctx, today.value);
      const zone = { today: today.value, timeZone: ctx.timeZone.value };
      const found = word.trim() === "" ? [] : goalsIn(events.value ?? [], word, zone);
      const isLoading = word.trim() !== "" && events.value === undefined;
      const goals = goal ? [goal, ...found] : found;
      const content = goals.length > 0 ? goalsView(ctx, goals) : isLoading ? nothing : empty(ctx);
      const name = goals[0]?.title || ctx.t("Countdown");
      const look = `card ${ctx.online.value ? "" : "stale"}`;
      render(html`<section class=${look} aria-label=${name}>${content}</section>`, root);
    });

    async function load(date: string): Promise<void> {
      const end = new Date(Date.parse(date) + AHEAD_MS).toISOString().slice(0, 10);
      const query = new URLSearchParams({ start: date, end, tz: ctx.timeZone.peek() });
      try {
        const answer = await ctx.read(`/calendar/events?${query.toString()}`);
        if (!ctx.signal.aborted) events.value = ((await answer.json()) as CalendarWindow).events;
      } catch (error) {
        ctx.log.warn("could not load events", error);
        events.value ??= [];
      }
    }
  },
});

/** The date of the settings, until it is over. */
function goalOf(ctx: Context, today: string): Goal | undefined {
  const date = dateOf(ctx.settings.value.date);
  const days = date === undefined ? -1 : daysBetween(today, date);
  if (date === undefined || days < 0) return undefined;
  return { title: ctx.settings.value.title, date, days };
}

function goalsView(ctx: Context, [first, ...others]: readonly Goal[]): unknown {
  if (!first) return nothing;
  const rows = Math.floor((ctx.size.value.height - HEAD_PX) / ROW_PX);
  return html`<div class="first">
      <b class=${first.days > 1 ? "" : "word"}
        >${first.days > 1 ? ctx.fmt.number(first.days) : wordsOf(ctx, first)}</b
      >
      ${first.days > 1 ? html`<span>${ctx.t("days")}</span>` : nothing}
    </div>
    <p class="name" dir="auto">${first.title}</p>
    <p class="note">${ctx.fmt.date(first.date)}</p>
    ${others
      .slice(0, Math.max(0, Math.min(rows, MOST_ROWS)))
      .map(
        (goal) =>
          html`<p class="row">
            <span dir="auto">${goal.title}</span><b>${wordsOf(ctx, goal)}</b>
          </p>`,
      )}`;
}

function wordsOf({ t, fmt }: Context, { days }: Goal): string {
  if (days === 0) return t("Today");
  return days === 1 ? t("Tomorrow") : t("{count} days", { count: fmt.number(days) });
}

function empty({ t, settings: { value } }: Context): TemplateResult {
  const isSet = value.word.trim() !== "" || dateOf(value.date) !== undefined;
  return html`<p class="empty">
    ${isSet ? t("Nothing is coming") : t("Enter a date or a word in the settings of this tile.")}
  </p>`;
}
