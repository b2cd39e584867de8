import type { Target } from "./traffic.ts";

interface Event {
  readonly id: number;
  readonly topic: string;
  readonly data: string;
}

/** Reads the event stream without reconnecting and counts events that must not happen. */
export class EventWatch {
  readonly #controller = new AbortController();
  readonly #done: Promise<void>;
  /** Resolves when the stream is open. */
  readonly opened: Promise<void>;
  #open: () => void = () => undefined;
  readonly #counts = { events: 0, cuts: 0, gaps: 0, resyncs: 0, vanished: 0, unavailable: 0 };
  #lastId: number | undefined;

  readonly #hear: (event: Event) => void;

  /** @param hear receives each event, for additional checks */
  constructor(
    { url, token }: Pick<Target, "url" | "token">,
    hear: (event: Event) => void = () => undefined,
  ) {
    this.#hear = hear;
    this.opened = new Promise((resolve) => (this.#open = resolve));
    this.#done = this.#read(`${url}/api/v1/events`, token);
  }

  /** Stops reading. `vanished` counts removed devices, `unavailable` devices reported as unavailable. */
  async stop() {
    this.#controller.abort();
    await this.#done;
    return this.#counts;
  }

  async #read(url: string, token: string): Promise<void> {
    const { signal } = this.#controller;
    try {
      const response = await fetch(url, { headers: { authorization: `Bearer ${token}` }, signal });
      this.#open();
      let text = "";
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        const blocks = (text + chunk).split("\n\n");
        text = blocks.pop() ?? "";
        for (const block of blocks) this.#take(parse(block));
      }
      this.#counts.cuts++;
    } catch {
      if (!signal.aborted) this.#counts.cuts++;
    }
  }

  #take({ id, topic, data }: Event): void {
    if (Number.isNaN(id)) return; // a ping
    if (topic !== "") this.#counts.events++;
    this.#hear({ id, topic, data });
    if (this.#lastId !== undefined && id !== this.#lastId + 1) this.#counts.gaps++;
    this.#lastId = id;
    if (topic === "resync") this.#counts.resyncs++;
    if (topic === "device.removed") this.#counts.vanished++;
    if (topic === "device.state" && data.includes('"available":false')) this.#counts.unavailable++;
  }
}

function parse(block: string): Event {
  const field = (name: string): string | undefined =>
    new RegExp(`^${name}: ?(.*)$`, "m").exec(block)?.[1];
  return {
    id: Number(field("id") ?? Number.NaN),
    topic: field("event") ?? "",
    data: field("data") ?? "",
  };
}
