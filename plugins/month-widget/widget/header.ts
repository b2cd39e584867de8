import { html, nothing, type TemplateResult } from "lit";
import { addDays, addMonths, weekNumber } from "./month.ts";
import type { Context, Page, View } from "./page.ts";

/** Minimum width for the choice of a view, in CSS pixels. */
const CHOICE_PX = 560;
const VIEWS: readonly (readonly [View, string])[] = [
  ["day", "Day"],
  ["week", "Week"],
  ["month", "Month"],
];

/** The title of the shown days, and the buttons that turn to others. */
export function pageHeader(ctx: Context, page: Page): TemplateResult {
  const { t } = ctx;
  const { view, chosen, today, go, opening } = page;
  const add = opening();
  const turn = (by: 1 | -1) => () => go(turnedBy(page, by));
  const number = view === "week" && ctx.settings.value.weekNumbers && page.dates.length === 7;
  return html`<div class="head">
    <h2 aria-live="polite">
      ${titleOf(ctx, page)}
      ${number ? html`<small>${t("Week {number}", { number: weekNumber(page.dates) })}</small>` : nothing}
    </h2>
    ${
      chosen === today
        ? nothing
        : html`<button class="today" @click=${() => go(today)}>${t("Today")}</button>`
    }
    ${
      add
        ? html`<button class="add" aria-label=${t("New event")} @click=${add}>
            <mantel-icon name="mdi:plus"></mantel-icon>
          </button>`
        : nothing
    }
    <button class="turn" aria-label=${t(`Previous ${view}`)} @click=${turn(-1)}>
      <mantel-icon name="mdi:chevron-left"></mantel-icon>
    </button>
    <button class="turn" aria-label=${t(`Next ${view}`)} @click=${turn(1)}>
      <mantel-icon name="mdi:chevron-right"></mantel-icon>
    </button>
    ${ctx.size.value.width < CHOICE_PX ? nothing : choice(ctx, page)}
  </div>`;
}

function choice({ t }: Context, { view, show }: Page): TemplateResult {
  return html`<div class="views" role="group" aria-label=${t("Shows")}>
    ${VIEWS.map(
      ([id, name]) =>
        html`<button aria-pressed=${id === view} @click=${() => show(id)}>${t(name)}</button>`,
    )}
  </div>`;
}

/** The shown month, days or day. */
export function titleOf(ctx: Context, { view, dates, chosen }: Page): string {
  const locale = ctx.locale.value;
  if (view === "day") return ctx.fmt.date(chosen);
  if (view === "month") {
    const month = { month: "long", year: "numeric", timeZone: "UTC" } as const;
    return new Intl.DateTimeFormat(locale, month).format(Date.parse(chosen));
  }
  const [first = chosen] = dates;
  const days = { day: "numeric", month: "long", timeZone: "UTC" } as const;
  const format = new Intl.DateTimeFormat(locale, days);
  return format.formatRange(Date.parse(first), Date.parse(dates.at(-1) ?? first));
}

function turnedBy({ view, dates, chosen }: Page, by: 1 | -1): string {
  if (view === "month") return addMonths(chosen, by);
  return addDays(chosen, by * dates.length);
}
