import { createHash } from "node:crypto";
import type { CalendarEvent, CalendarPart } from "../calendar.ts";
import type { PluginContext } from "../context.ts";
import type { Publications } from "../service.ts";
import type { HostLink } from "./host-link.ts";

/** Events per message. The host parses and validates this many in one millisecond. */
const PART_EVENTS = 200;

/** Creates `ctx.publish`. A calendar window is large, so only its new parts are sent. */
export function createPublish(host: HostLink): PluginContext<unknown, unknown>["publish"] {
  const windows = new WindowSender(host);
  return async (name: string, value) => {
    if (name === "calendar.window") return windows.send(value);
    throw new TypeError(
      `ctx.publish("${name}") is gone; define a channel with defineChannels, and publish with ctx.channels`,
    );
  };
}

class WindowSender {
  readonly #host: HostLink;
  /** Hashes of the parts that the host has. */
  #held: ReadonlySet<string> = new Set();
  /** Windows are sent one after another, because the host drops parts that the last window does not name. */
  #sending: Promise<void> = Promise.resolve();

  constructor(host: HostLink) {
    this.#host = host;
  }

  send(window: Publications["calendar.window"]): Promise<void> {
    const sent = this.#sending.then(() => this.#send(window));
    this.#sending = sent.catch(() => undefined); // the caller of `publish` gets the error
    return sent;
  }

  async #send(window: Publications["calendar.window"]): Promise<void> {
    const { events, ...rest } = window;
    const name = "calendar.window";
    // A plugin without types may pass anything; the host reports the faults.
    if (!Array.isArray(events)) return this.#host.call("publish", { name, value: window });
    const parts = partsOf(events);
    const held = new Set(this.#held);
    this.#held = new Set(); // after a failure it is unknown which parts arrived
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

/** Splits events into parts of one calendar each, so that a change in one calendar leaves the other parts unchanged. */
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
