import { signal } from "@preact/signals-core";
import { html, render } from "lit";
import type { ModuleView } from "../../modules/view.ts";
import { type MountedWidget, mountWidget } from "../mounted-widget.ts";
import { SizeWatch } from "../tile-size.ts";
import type { TileParts } from "../tile.ts";
import { translate } from "../translate.ts";
import type { AnyWidget } from "../widget-loader.ts";
import { spokenLocale } from "../words/language.ts";
import { type Definitions, schemaOf } from "./definitions.ts";
import { demoSurroundings } from "./demo.ts";
import { letDragIn } from "./drag-in.ts";
import { firstSize, type Screen } from "./limits.ts";
import type { NewWidget } from "./operations.ts";
import { words } from "./words.ts";

/** What a preview is drawn at before it is made small: a column and a row of the wall, in CSS pixels. */
const COLUMN_PX = 100;
const ROW_PX = 32;
/** A preview is as wide as its card; what is longer than this is cut. */
const PREVIEW = { width: 292, height: 170 };

interface GalleryParts {
  readonly tiles: TileParts;
  readonly definitions: Definitions;
  /** What a widget that is dragged onto the page is made for. */
  readonly screen: () => Screen;
  readonly onPick: (widget: NewWidget) => void;
}

/** Every widget there is, drawn by its own code over demo data. */
export class Gallery {
  readonly element = document.createElement("div");
  readonly #parts: GalleryParts;
  readonly #surroundings;
  readonly #release: (() => void)[] = [];
  #isClosed = false;

  constructor(parts: GalleryParts) {
    this.#parts = parts;
    const { store, surroundings } = parts.tiles;
    this.#surroundings = demoSurroundings(surroundings.shared, store);
    this.element.className = "gallery";
    const modules = store
      .modules()
      .peek()
      .filter(({ widget }) => widget);
    if (modules.length === 0)
      render(html`<p class="hint">${words.value.noWidgets}</p>`, this.element);
    for (const module of modules) void this.#add(module);
  }

  /** Ends every preview. */
  close(): void {
    this.#isClosed = true;
    for (const release of this.#release.splice(0)) release();
    this.element.remove();
  }

  async #add(module: ModuleView): Promise<void> {
    const card = document.createElement("div");
    card.className = "card";
    this.element.append(card);
    const stage = document.createElement("div");
    stage.className = "stage";
    const definition = await this.#parts.definitions.find(module.id)?.catch(() => undefined);
    if (this.#isClosed) return;
    const size = definition?.size.default ?? [4, 4];
    const name = nameOf(module, definition);
    const { screen, onPick } = this.#parts;
    const pick = (): void => onPick({ module: module.id, config: {}, size });
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
          @click=${pick}
        ></button>`,
      card,
    );
    const preview = card.querySelector<HTMLElement>(".preview");
    if (preview) {
      const cells = () => firstSize(definition?.size, screen());
      letDragIn(card, { handle: ".pick", preview, module: module.id, cells });
    }
    if (definition) await this.#preview(stage, { module, definition, size });
  }

  async #preview(
    stage: HTMLElement,
    { module, definition, size: [columns, rows] }: PreviewOf,
  ): Promise<void> {
    const url = module.widget?.url;
    if (url === undefined) return;
    const { loader } = this.#parts.tiles;
    const [width, height] = [columns * COLUMN_PX - 12, rows * ROW_PX - 12];
    const scale = Math.min(PREVIEW.width / width, 1);
    const shown = Math.min(PREVIEW.height, height * scale);
    const preview = stage.parentElement ?? stage;
    for (const [name, value] of Object.entries({ width, height, scale, shown })) {
      preview.style.setProperty(`--${name}`, `${value}`);
    }
    this.#release.push(() => loader.release(url));
    try {
      const code = await loader.acquire(url);
      if (this.#isClosed) return;
      this.#mount(stage, { code, config: demoConfig(definition), cells: [columns, rows] });
    } catch (error) {
      console.warn(`${module.id} has no preview`, error);
      stage.replaceChildren(words.value.noPreview);
    }
  }

  #mount(
    stage: HTMLElement,
    { code, config, cells: [w, h] }: Pick<Parameters<typeof mountWidget>[1], "code"> & Preview,
  ): void {
    const watch = new SizeWatch(stage);
    watch.place({ x: 0, y: 0, w, h });
    this.#release.push(() => watch.close());
    let mounted: MountedWidget | undefined;
    const end = (): void => {
      mounted?.unmount();
      mounted = undefined;
    };
    this.#release.push(end);
    mounted = mountWidget(stage, {
      code,
      instance: "preview",
      surroundings: this.#surroundings,
      config: signal(config),
      size: watch.size,
      visible: signal(true),
      kept: undefined,
      onFault: () => queueMicrotask(end),
    });
    mounted.host.classList.remove("waiting");
  }
}

/** The widget's own name, in the language that is spoken. */
function nameOf(module: ModuleView, definition: AnyWidget | undefined): string {
  if (!definition) return module.name;
  const { name, texts = {} } = definition;
  return translate(name, { texts, locale: spokenLocale.peek() });
}

interface PreviewOf {
  readonly module: ModuleView;
  readonly definition: AnyWidget;
  readonly size: readonly [number, number];
}
interface Preview {
  readonly config: Readonly<Record<string, unknown>>;
  readonly cells: readonly [number, number];
}

/** Settings that show something: a widget of one device gets one of the demo house. */
function demoConfig(definition: AnyWidget): Readonly<Record<string, unknown>> {
  const devices: Readonly<Record<string, string>> = {
    light: "demo:light:1",
    cover: "demo:cover:3",
    thermostat: "demo:thermostat:4",
    sensor: "demo:sensor:5",
    lock: "demo:lock:7",
    "media-player": "demo:media-player:8",
  };
  const { properties = {} } = schemaOf(definition, "en");
  const chosen = Object.entries(properties).map(([key, { format, deviceKind = "light" }]) => {
    if (format === "device") return [key, devices[deviceKind] ?? devices.light];
    return [key, format === "lines" ? words.value.demoNote : undefined];
  });
  return Object.fromEntries(chosen);
}
