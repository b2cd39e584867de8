import { fullChannelName } from "@mantel/plugin-sdk/channel-names";
import { signal } from "@preact/signals-core";
import { GridStack, type GridItemHTMLElement } from "gridstack";
import { html, render } from "lit";
import type { ModuleView, WidgetView } from "../../api/module.ts";
import { pluginText } from "../i18n/language.ts";
import { mountWidgetIn } from "../mount.ts";
import type { MountedWidget } from "../mounted-widget.ts";
import { SizeWatch } from "../tile-size.ts";
import type { TileDependencies } from "../tile.ts";
import type { WidgetContexts } from "../widget-context.ts";
import type { WidgetFacts } from "../widget-loader.ts";
import { type Definitions, schemaOf } from "./definitions.ts";
import { demoWidgetContexts } from "./demo.ts";
import type { EditorStore } from "./editor-store.ts";
import { firstSize, type WidgetSize } from "./limits.ts";
import { words } from "./words.ts";

/**
 * The size at which previews are drawn before scaling: a column and a row of the wall, in CSS
 * pixels.
 */
const COLUMN_PX = 100;
const ROW_PX = 32;
/** Maximum size of a preview. It is as wide as its card, and taller content is cut off. */
const PREVIEW = { width: 292, height: 170 };

/**
 * Selector of the cards that can be dropped on a page. grid-view.ts reads the module from the `id`
 * of the node.
 */
export const DRAGGABLE_CARD = ".card";

/** All available widgets, drawn by their own code with demo data. */
export class Gallery {
  readonly element = document.createElement("div");
  readonly #store: EditorStore;
  readonly #tiles: TileDependencies;
  readonly #definitions: Definitions;
  readonly #demo: WidgetContexts;
  /** Values of plugins' channels in previews, by full name. */
  readonly #channels = new Map<string, unknown>();
  readonly #release: (() => void)[] = [];
  readonly #ending = new AbortController();

  constructor(store: EditorStore, tiles: TileDependencies, definitions: Definitions) {
    this.#store = store;
    this.#tiles = tiles;
    this.#definitions = definitions;
    this.#demo = demoWidgetContexts(tiles.contexts.shared, tiles.store, this.#channels);
    this.element.className = "gallery";
    const all = tiles.store.modules().peek();
    const modules = all.filter(({ widget }) => widget);
    if (modules.length === 0)
      render(html`<p class="hint">${words.value.noWidgets}</p>`, this.element);
    for (const module of modules) void this.#add(module);
  }

  /** Closes all previews. */
  close(): void {
    this.#ending.abort();
    for (const release of this.#release.splice(0)) release();
    this.element.remove();
  }

  async #add(module: ModuleView): Promise<void> {
    const card = document.createElement("div");
    card.className = "card";
    this.element.append(card);
    const stage = document.createElement("div");
    stage.className = "stage";
    const definition = await this.#definitions.find(module.id)?.catch(() => undefined);
    if (this.#ending.signal.aborted) return;
    const widget = {
      module: module.id,
      config: {},
      size: definition?.size.default ?? [4, 4],
    } as const;
    const name = nameOf(module, definition);
    render(
      html`<div class="preview" inert>${definition ? stage : words.value.noPreview}</div>
        <strong>
          <mantel-icon name=${definition?.icon ?? "mdi:puzzle-outline"}></mantel-icon>
          <span dir="auto">${name}</span>
        </strong>
        <button
          type="button"
          class="pick"
          aria-label=${words.value.add(name)}
          @click=${() => this.#store.add(widget)}
        ></button>`,
      card,
    );
    this.#makeDraggable(card, module.id, definition?.size);
    if (definition) await this.#preview(stage, module, definition);
  }

  /** Makes a card draggable onto the page, by pointer or, after a long press, by finger. */
  #makeDraggable(card: HTMLElement, module: string, size: WidgetSize | undefined): void {
    const item: GridItemHTMLElement = card;
    const preview = card.querySelector<HTMLElement>(".preview");
    const ghost = document.createElement("div");
    ghost.className = "card ghost";
    if (!preview) return;
    // Not setupDragIn: it emits events with the same names as the browser's own drag events.
    GridStack.getDD().dragIn(card, {
      handle: ".pick", // a button, which can also be tapped
      helper: () => {
        ghost.style.position = "fixed"; // otherwise gridstack changes the position of the editor
        card.style.minHeight = `${card.offsetHeight}px`;
        ghost.append(preview);
        card.closest(".editor")?.append(ghost);
        return ghost;
      },
      start: () => {
        const { columns } = this.#store.document.peek().grid;
        const screen = { breakpoint: this.#store.breakpoint.peek(), columns };
        item.gridstackNode = { id: module, ...firstSize(size, screen) };
      },
      stop: () => {
        card.prepend(preview);
        card.style.minHeight = "";
        // Releasing the pointer over the card also fires a click, which is not a tap.
        const swallow = (event: Event): void => event.stopPropagation();
        card.addEventListener("click", swallow, { capture: true });
        setTimeout(() => card.removeEventListener("click", swallow, { capture: true }));
      },
    });
  }

  async #preview(stage: HTMLElement, module: ModuleView, definition: WidgetFacts): Promise<void> {
    const { widget } = module;
    if (!widget) return;
    const [columns, rows] = definition.size.default;
    const [width, height] = [columns * COLUMN_PX - 12, rows * ROW_PX - 12];
    const scale = Math.min(PREVIEW.width / width, 1);
    const shown = Math.min(PREVIEW.height, height * scale);
    const preview = stage.parentElement ?? stage;
    for (const [name, value] of Object.entries({ width, height, scale, shown })) {
      preview.style.setProperty(`--${name}`, `${value}`);
    }
    try {
      await this.#mount(stage, widget, module, definition);
    } catch (error) {
      if (this.#ending.signal.aborted) return;
      console.warn(`could not preview ${module.id}`, error);
      stage.replaceChildren(words.value.noPreview);
    }
  }

  async #mount(
    stage: HTMLElement,
    widget: WidgetView,
    { id, name: title }: ModuleView,
    definition: WidgetFacts,
  ): Promise<void> {
    for (const [name, value] of Object.entries(definition.preview?.() ?? {})) {
      this.#channels.set(fullChannelName(name, id), value);
    }
    const config = signal(demoConfig(definition));
    const [w, h] = definition.size.default;
    const watch = new SizeWatch(stage);
    watch.place({ x: 0, y: 0, w, h });
    this.#release.push(() => watch.close());
    let mounted: MountedWidget | undefined;
    let hasEnded = false;
    const end = (): void => {
      hasEnded = true;
      mounted?.unmount();
      mounted = undefined;
    };
    this.#release.push(end);
    mounted = await mountWidgetIn(stage, {
      widget,
      title,
      loader: this.#tiles.loader,
      instance: `preview of ${widget.url}`,
      module: id,
      contexts: this.#demo,
      config,
      size: watch.size,
      visible: signal(true),
      handOver: () => undefined,
      overtaken: this.#ending.signal,
      onFault: () => queueMicrotask(end),
      onUncaught: (error) => console.error(`the preview of ${id} failed`, error),
      onLost: () => queueMicrotask(end),
    });
    mounted.host.classList.remove("waiting");
    if (hasEnded) mounted.unmount(); // its frame failed before the preview was complete
  }
}

/** The widget's own name in the current language. */
function nameOf(module: ModuleView, definition: WidgetFacts | undefined): string {
  if (!definition) return module.name;
  const { name, texts = {} } = definition;
  return pluginText(module.id, name, { texts });
}

/** Settings that make a preview useful: a device of the demo home for widgets of one device. */
function demoConfig(definition: WidgetFacts): Readonly<Record<string, unknown>> {
  const devices: Readonly<Record<string, string>> = {
    light: "demo:light:1",
    cover: "demo:cover:3",
    thermostat: "demo:thermostat:4",
    sensor: "demo:sensor:5",
    lock: "demo:lock:7",
    "media-player": "demo:media-player:8",
  };
  const { properties = {} } = schemaOf(definition, "");
  const chosen = Object.entries(properties).map(([key, { format, deviceKind = "light" }]) => {
    if (format === "device") return [key, devices[deviceKind] ?? devices.light];
    return [key, format === "lines" ? words.value.demoNote : undefined];
  });
  return Object.fromEntries(chosen);
}
