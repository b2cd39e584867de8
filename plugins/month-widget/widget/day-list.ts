import type { I18n } from "@mantel/plugin-sdk/i18n";
import { html, nothing, type TemplateResult } from "lit";
import type { Event } from "./events.ts";
import { titleView } from "./title-view.ts";

interface DayList {
  readonly date: string;
  readonly events: readonly Event[];
  /** Opens an event; undefined for one that cannot be changed. */
  readonly opening: (event: Event) => (() => void) | undefined;
}

/** The list of events of one day. */
export function dayList({ t, fmt }: I18n, { date, events, opening }: DayList): TemplateResult {
  const title = fmt.date(date);
  return html`<section class="day" aria-label=${title}>
    <h3>${title}</h3>
    ${events.length === 0 ? html`<p>${t("Nothing on this day")}</p>` : nothing}
    <ul>
      ${events.map((event) => {
        const { startAt, color, location } = event;
        const open = opening(event);
        const content = html`<time
            >${startAt === undefined ? t("all day") : fmt.time(startAt)}</time
          >
          <i .style=${`--color: ${color}`}></i>
          <div>
            <b>${titleView(event)}</b>${location ? html`<span>${location}</span>` : nothing}
          </div>`;
        return open
          ? html`<li><button @click=${open}>${content}</button></li>`
          : html`<li>${content}</li>`;
      })}
    </ul>
  </section>`;
}
