import { setImmediate } from "node:timers/promises";
import type { ModuleView } from "../../../host/api/module.ts";
import type { OpenRequest } from "../../../host/dashboard/api.ts";
import type { Layout } from "../../../host/dashboard/layout.ts";
import { deviceOf } from "../../helpers/device.ts";
import { FakeApi } from "../../helpers/page/fake-api.ts";

export const LAMP = deviceOf({ number: 1 });
export const CLOCK = moduleOf("clock");
export const LAYOUT: Layout = {
  revision: 1,
  grid: { columns: 12, rowHeight: 20, gap: 12 },
  pages: [
    { id: "home", title: "Home", widgets: [] },
    { id: "hall", title: "Hall", widgets: [] },
  ],
  displays: [{ id: "wall", name: "Hall tablet", pages: ["hall"], theme: "light" }],
};

/** A home with a lamp and a clock, and its event stream. */
export class StreamingHome extends FakeApi {
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  readonly #held = new Map<string, Promise<void>>();

  constructor() {
    super({
      "/smart-home/devices": { devices: [LAMP] },
      "/modules": { modules: [CLOCK] },
      "/layout": LAYOUT,
      "/config": { config: { ui: { timeZone: "UTC", locale: "en-GB" } } },
      "/channels/news/headlines": { value: ["Rain"], revision: 1 },
      "/smart-home/scenes": { scenes: [{ id: "demo:scene:1", lastActivatedAt: null }] },
      "/calendar/events?": { window: {}, events: [], sources: [] },
    });
  }

  /** The next answer of a path comes when the returned function is called. */
  hold(path: string): () => Promise<void> {
    let release = (): void => undefined;
    this.#held.set(path, new Promise((resolve) => (release = resolve)));
    return async () => {
      release();
      await settled();
    };
  }

  override async get<T>(path: string): Promise<T> {
    const held = this.#held.get(path);
    this.#held.delete(path);
    await held;
    return super.get<T>(path);
  }

  override async open(path: string, { signal }: OpenRequest): Promise<Response> {
    this.asked.push(`GET ${path}`);
    const body = new ReadableStream<Uint8Array>({
      start: (stream) => void (this.#stream = stream),
    });
    const stream = this.#stream;
    signal.addEventListener("abort", () => stream?.error(signal.reason));
    return new Response(body);
  }

  async event(topic: string, data?: unknown, id?: string): Promise<void> {
    await this.events([topic, data, id]);
  }

  /** Sends events that arrive together. */
  async events(
    ...events: readonly (readonly [topic: string, data?: unknown, id?: string | undefined])[]
  ): Promise<void> {
    const text = events.map(([topic, data, id]) =>
      [
        `event: ${topic}\n`,
        id === undefined ? "" : `id: ${id}\n`,
        data === undefined ? "" : `data: ${JSON.stringify(data)}\n`,
        "\n",
      ].join(""),
    );
    await this.sendText(text.join(""));
  }

  async sendText(text: string): Promise<void> {
    this.#stream?.enqueue(new TextEncoder().encode(text));
    await settled();
  }

  async end(): Promise<void> {
    this.#stream?.close();
    await settled();
  }
}

export function moduleOf(id: string, state: ModuleView["state"] = "active"): ModuleView {
  return {
    id,
    name: id,
    state,
    kinds: [],
    resources: {},
    error: null,
    lastReload: null,
    widget: null,
  } as unknown as ModuleView;
}

/** Resolves once all that was due has run. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await setImmediate();
}
