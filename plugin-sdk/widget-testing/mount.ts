import type { Signal } from "@preact/signals-core";
import type { FakeDevice } from "../testing-device.ts";
import type { Settings, TileSize, WidgetDefinition } from "../widget.ts";
import { FakeContext, type Recorded, type WidgetTestOptions } from "./fake-context.ts";

/** A mounted widget, with what it shows and what it did. */
export interface TestedWidget extends Readonly<Recorded> {
  readonly root: ShadowRoot;
  /** The settings of the tile; set `value` to change them. The same for the signals below. */
  readonly settings: Signal<Readonly<Record<string, unknown>>>;
  readonly size: Signal<TileSize>;
  readonly visible: Signal<boolean>;
  readonly theme: Signal<"dark" | "light" | "night">;
  readonly online: Signal<boolean>;
  readonly locale: Signal<string>;
  readonly timeZone: Signal<string>;
  /** The text of the first matching element, with single spaces; of the whole widget without a selector. */
  text(selector?: string): string;
  /** The texts of all matching elements. */
  texts(selector: string): string[];
  /** Clicks the first matching element. @throws Error if nothing matches */
  click(selector: string): void;
  /** Resolves when the condition is true. @throws Error with the widget's HTML if that takes too long */
  until(holds: () => boolean): Promise<void>;
  /** Changes a channel, by name as in `ctx.channel`; `undefined` means that it is gone. */
  setChannel(name: string, value: unknown): void;
  /** Adds or replaces a device. */
  setDevice(device: FakeDevice): void;
  removeDevice(id: string): void;
  /** Runs what `ctx.every` has set, as if this time had passed. A `now` of the options advances with it. */
  advance(ms: number): void;
  /** Ends the widget and returns the state that it hands over. */
  unmount(): unknown;
}

/** Turns of the event loop after which everything that a fake answers has been drawn. */
const MOST_TURNS = 100;

/**
 * Mounts a widget in a home of the test, without a host. It is refused what its `needs` do not list, as in a frame. A
 * command changes its device at once.
 * @throws the widget's error while it mounts
 */
export function mountWidget<S extends Settings, State>(
  definition: WidgetDefinition<S, State>,
  options: WidgetTestOptions = {},
): TestedWidget {
  const widget = definition as unknown as WidgetDefinition<Settings, unknown>;
  const fake = new FakeContext(widget, options);
  const host = document.createElement("div");
  document.body.append(host);
  fake.onEnd(() => host.remove());
  try {
    const root = host.attachShadow({ mode: "open" });
    const styles = new CSSStyleSheet();
    styles.replaceSync(widget.styles ?? "");
    root.adoptedStyleSheets = [...document.adoptedStyleSheets, styles];
    const handle = widget.mount(root, fake.context) ?? {};
    return {
      ...lookInto(root),
      ...fake.recorded,
      ...pick(fake),
      setChannel: (name, value) => fake.setChannel(name, value),
      setDevice: (device) => fake.setDevice(device),
      removeDevice: (id) => fake.removeDevice(id),
      advance: (ms) => fake.advance(ms),
      unmount() {
        const state = handle.handOver?.();
        fake.onEnd(() => handle.unmount?.());
        fake.end();
        return state;
      },
    };
  } catch (error) {
    fake.end();
    throw error;
  }
}

function pick({ settings, size, visible, theme, online, locale, timeZone }: FakeContext) {
  return { settings, size, visible, theme, online, locale, timeZone };
}

function lookInto(root: ShadowRoot) {
  const find = (selector: string): HTMLElement => {
    const element = root.querySelector<HTMLElement>(selector);
    if (element) return element;
    throw new Error(`nothing matches ${selector} in ${root.innerHTML}`);
  };
  return {
    root,
    text: (selector?: string) =>
      plain(selector === undefined ? root.textContent : find(selector).textContent),
    texts: (selector: string) =>
      Array.from(root.querySelectorAll(selector), ({ textContent }) => plain(textContent)),
    click: (selector: string) => find(selector).click(),
    async until(holds: () => boolean): Promise<void> {
      for (let turn = 0; turn < MOST_TURNS; turn++) {
        if (holds()) return;
        await new Promise((resolve) => setTimeout(resolve));
      }
      throw new Error(`the widget still shows ${root.innerHTML}`);
    },
  };
}

function plain(text: string | null): string {
  return (text ?? "").replace(/\s+/g, " ").trim();
}
