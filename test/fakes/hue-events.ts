import type { IncomingMessage, ServerResponse } from "node:http";
import { type FakeResource, idOf } from "./hue-home.ts";

/** Events in the format of bridges. */
export interface FakeEvent {
  readonly id: string;
  readonly type: string;
  readonly creationtime: string;
  readonly data: readonly FakeResource[];
}

/** The event stream of a bridge: what happens together is one event, and who resumes hears what was missed. */
export class FakeEvents {
  /** Open streams, and the `last-event-id` each was opened with. */
  readonly streams = new Map<ServerResponse, string | undefined>();
  readonly #everyMs: number;
  readonly #onEvents: (events: readonly FakeEvent[]) => void;
  readonly #sent: { id: string; text: string }[] = [];
  readonly #pending: { type: string; data: FakeResource[] }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #count = 0;

  /** `everyMs`: what happens within so long is told together; `onEvents` gets it too. */
  constructor(everyMs: number, onEvents: (events: readonly FakeEvent[]) => void) {
    this.#everyMs = everyMs;
    this.#onEvents = onEvents;
  }

  open(request: IncomingMessage, response: ServerResponse): void {
    const resumed = request.headers["last-event-id"];
    const after = Array.isArray(resumed) ? resumed[0] : resumed;
    this.streams.set(response, after);
    response.on("close", () => this.streams.delete(response));
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": hi\n\n");
    const known = this.#sent.findIndex(({ id }) => id === after);
    if (known >= 0) for (const { text } of this.#sent.slice(known + 1)) response.write(text);
  }

  tell(type: string, data: unknown[]): void {
    this.#pending.push({ type, data: data as FakeResource[] });
    this.#timer ??= setTimeout(() => this.#send(), this.#everyMs);
  }

  /** Writes to every stream, whatever it is. */
  sendRaw(text: string): void {
    for (const stream of this.streams.keys()) stream.write(text);
  }

  /** As after a power cut: what was sent, or was about to be, is not known any more. */
  forget(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sent.length = 0;
    this.#pending.length = 0;
  }

  #send(): void {
    this.#timer = undefined;
    const events = this.#pending.splice(0).map(({ type, data }) => ({
      type,
      data,
      id: idOf(`event-${++this.#count}`),
      creationtime: new Date().toISOString(),
    }));
    this.#onEvents(events);
    const id = `1700000000:${++this.#count}`;
    const text = `id: ${id}\ndata: ${JSON.stringify(events)}\n\n`;
    this.#sent.push({ id, text });
    this.sendRaw(text);
  }
}
