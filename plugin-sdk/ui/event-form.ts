import type { CalendarEvent } from "../calendar.ts";

/** The name of the DOM event with which a widget asks for the form of an event. */
export const OPEN_EVENT_FORM = "mantel-event-form";

/** The event to change, or the day of a new one, such as `2026-11-20`. */
export type EventFormSubject = { readonly event: CalendarEvent } | { readonly date: string };

/**
 * Opens the dashboard's form, in which the user creates an event, in words or by its fields, or changes, moves or
 * deletes one. A widget in a frame has no form.
 */
export function openEventForm(detail: EventFormSubject): void {
  window.dispatchEvent(new CustomEvent(OPEN_EVENT_FORM, { detail }));
}
