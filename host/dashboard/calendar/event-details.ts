import type { CalendarEvent } from "@mantel/plugin-sdk/calendar";
import { html, nothing, render, type TemplateResult } from "lit";
import { currentLocale } from "../i18n/language.ts";
import { words } from "./words.ts";

const DAY_MS = 86_400_000;

/** Shows an event that is only read, in a dialog: when and where it is, its meeting and its description. */
export function showEventDetails(event: CalendarEvent, timeZone: string): void {
  const { title, location, description } = event;
  const dialog = document.createElement("dialog");
  dialog.className = "event-form";
  dialog.setAttribute("aria-label", title);
  dialog.addEventListener("close", () => dialog.remove());
  render(
    html`<h2>${title}</h2>
      <p class="when">${whenOf(event, timeZone)}</p>
      ${location === null ? nothing : html`<p>${location}</p>`} ${conferenceLink(event)}
      ${description === null ? nothing : html`<p class="description">${description}</p>`}
      <div class="buttons">
        <button type="button" class="close" @click=${() => dialog.close()}>
          ${words.value["Close"]}
        </button>
      </div>`,
    dialog,
  );
  document.body.append(dialog);
  dialog.showModal();
}

/** A link to the meeting of an event. Its host is shown, because the address comes from the calendar. */
export function conferenceLink(event: CalendarEvent | undefined): TemplateResult | typeof nothing {
  const { conference } = event ?? {};
  if (conference === undefined || !/^https?:/.test(conference) || !URL.canParse(conference)) {
    return nothing;
  }
  return html`<a class="conference" href=${conference} target="_blank" rel="noopener noreferrer"
    >${words.value["Join the meeting"]} <small>${new URL(conference).hostname}</small></a
  >`;
}

/** The days, or the times in a zone. The end of whole days is exclusive. */
function whenOf({ start, end }: CalendarEvent, timeZone: string): string {
  const day = { weekday: "short", day: "numeric", month: "long", year: "numeric" } as const;
  const locale = currentLocale.value;
  if ("date" in start) {
    const last = "date" in end ? Date.parse(end.date) - DAY_MS : Date.parse(start.date);
    const format = new Intl.DateTimeFormat(locale, { ...day, timeZone: "UTC" });
    return format.formatRange(Date.parse(start.date), last);
  }
  const time = { hour: "numeric", minute: "2-digit", timeZone } as const;
  const format = new Intl.DateTimeFormat(locale, { ...day, ...time });
  const endAt = "dateTime" in end ? Date.parse(end.dateTime) : Date.parse(start.dateTime);
  return format.formatRange(Date.parse(start.dateTime), endAt);
}
