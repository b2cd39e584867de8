import type { CalendarWindow } from "@mantel/plugin-sdk/calendar";
import { type EventFormSubject, OPEN_EVENT_FORM } from "@mantel/plugin-sdk/ui/event-form";
import type { WidgetContexts } from "../widget-context.ts";

interface Contexts {
  readonly shared: Pick<WidgetContexts["shared"], "call" | "announce" | "timeZone">;
  readonly channel: WidgetContexts["channel"];
}

/**
 * Opens the form of an event when a widget asks for it, and by a click on an element with `data-event`, the id of an
 * event of the calendar channel, or `data-new-event`, the day of a new one.
 */
export function followEventForms(contexts: Contexts, options: AddEventListenerOptions = {}): void {
  const known = () => contexts.channel("calendar").value as CalendarWindow | undefined;
  const open = (subject: EventFormSubject): void => {
    const calendars = (known()?.sources ?? []).filter((source) => source.writable);
    void import("./event-form.ts").then(({ openEventForm }) =>
      openEventForm(contexts.shared, { ...subject, calendars }),
    );
  };
  const listen = (type: string, run: (event: Event) => void) =>
    window.addEventListener(type, run, options);
  listen(OPEN_EVENT_FORM, (event) => open((event as CustomEvent<EventFormSubject>).detail));
  listen("click", (click) => {
    const pressed = click.composedPath().find(isOpening);
    if (!pressed) return;
    const { event: id, newEvent: date } = pressed.dataset;
    const event = known()?.events.find((each) => each.id === id);
    if (event) open({ event });
    else if (date !== undefined) open({ date });
  });
}

function isOpening(target: EventTarget): target is HTMLElement {
  return (
    target instanceof HTMLElement && ("event" in target.dataset || "newEvent" in target.dataset)
  );
}
