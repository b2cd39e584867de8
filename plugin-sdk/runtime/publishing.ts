import { createHash } from "node:crypto";
import type { CalendarEvent, CalendarPart } from "../calendar.ts";
import type { PluginContext } from "../context.ts";
import type { Publications } from "../service.ts";
import type { HostLink } from "./host-link.ts";

/** Events in one message; the host reads and checks so many in a millisecond. */
const PART_EVENTS = 200;

/** What sends published values to the host. A calendar window is large, so only what is new in it travels. */
export function createPublish(host: HostLink): PluginContext<unknown, unknown>["publish"] {
  const windows = new WindowSender(host);
  return (name, value) =>
    name === "calendar.window"
      ? windows.send(value as Publications["calendar.window"])
      : host.call("publish", { name, value });
}

class WindowSender {
  readonly #host: HostLink;
  /** Hashes of the parts that the host has. */
  #held: ReadonlySet<string> = new Set();
  /** Windows go one after the other, because the host lets go of what the last one does not name. */
  #sending: Promise<void> = Promise.resolve();

  constructor(host: HostLink) {
    this.#host = host;
  }

  send(window: Publications["calendar.window"]): Promise<void> {
    const sent = this.#sending.then(() => this.#send(window));
    this.#sending = sent.catch(() => undefined); // whoever published it is told
    return sent;
  }

  async #send(window: Publications["calendar.window"]): Promise<void> {
    const { events, ...rest } = window;
    const name = "calendar.window";
    // a plugin that was written without types may be wrong here, and the host says how
    if (!Array.isArray(events)) return this.#host.call("publish", { name, value: window });
    const parts = partsOf(events);
    const held = new Set(this.#held);
    this.#held = new Set(); // after a failure nobody knows what has arrived
    for (const part of parts) {
      if (held.has(part.hash)) continue;
      await this.#host.call("publishCalendarPart", part);
      held.add(part.hash);
    }
    const hashes = parts.map(({ hash }) => hash);
    await this.#host.call("publish", { name, value: { ...rest, parts: hashes } });
    this.#held = new Set(hashes);
  }
}

/** A part holds events of one calendar, so that a change in one leaves the parts of the others as they are. */
function partsOf(events: readonly CalendarEvent[]): CalendarPart[] {
  const parts: CalendarPart[] = [];
  for (let from = 0, to = 1; from < events.length; to++) {
    const isWhole = to - from === PART_EVENTS || to >= events.length;
    if (!isWhole && events[to]?.calendarId === events[from]?.calendarId) continue;
    parts.push(partOf(events.slice(from, to)));
    from = to;
  }
  return parts;
}

function partOf(events: CalendarEvent[]): CalendarPart {
  const hash = createHash("sha256").update(JSON.stringify(events)).digest("base64url");
  return { hash, events };
}
