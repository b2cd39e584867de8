import { computed, type ReadonlySignal, signal } from "@preact/signals-core";
import { html, nothing } from "lit";
import type { FormChoices } from "../form/field.ts";
import { formView } from "../form/form.ts";
import type { FieldSchema } from "../form/schema.ts";
import type { Geometry } from "../layout.ts";
import type { TileDependencies } from "../tile.ts";
import { type Definitions, schemaOf } from "./definitions.ts";
import { findWidget, type LayoutWidget, pageOf } from "./document.ts";
import type { EditorStore } from "./editor-store.ts";
import type { GridView } from "./grid-view.ts";
import { sizeMisfit } from "./limits.ts";
import { namedThings } from "./named-things.ts";
import { words } from "./words.ts";

/** Panel of a tile: its settings, and buttons as an alternative to every drag. */
export class TilePanel {
  readonly #store: EditorStore;
  readonly #definitions: Definitions;
  readonly #grid: GridView;
  /** `undefined` if the module is missing or its code failed. */
  readonly #schema = signal<FieldSchema | undefined>(undefined);
  readonly #offers: ReadonlySignal<FormChoices>;

  constructor(
    store: EditorStore,
    { store: dashboard, contexts }: Pick<TileDependencies, "store" | "contexts">,
    definitions: Definitions,
    grid: GridView,
  ) {
    this.#store = store;
    this.#definitions = definitions;
    this.#grid = grid;
    const devices = dashboard.devices();
    this.#offers = computed(() => ({
      devices: devices.value.map(({ id, name, kind }) => ({ id, name, kind })),
      rooms: [...new Set(devices.value.flatMap(({ room }) => room ?? []))].toSorted(),
      named: namedThings(devices.value, contexts),
    }));
  }

  /** Reads the settings that the tile's widget has. */
  async readSchema(id: string): Promise<void> {
    this.#schema.value = undefined;
    const module = findWidget(this.#store.document.peek(), id)?.module;
    const definition =
      module === undefined
        ? undefined
        : await this.#definitions.find(module)?.catch(() => undefined);
    const open = this.#store.panel.peek();
    if (open?.kind !== "tile" || open.id !== id) return;
    this.#schema.value = definition && schemaOf(definition, module ?? "");
  }

  view(id: string): unknown {
    const { value: document } = this.#store.document;
    const widget = findWidget(document, id);
    if (!widget) return nothing;
    return html`${this.#settingsView(widget)} ${this.#shiftView(id)} ${this.#sizeView(widget)}
      <div class="form">
        <div class="field">
          <label for="editor-on-page">${words.value.onPage}</label>
          <select
            id="editor-on-page"
            @change=${({ currentTarget }: Event) =>
              this.#store.moveToPage(id, (currentTarget as HTMLSelectElement).value)}
          >
            ${document.pages.map(
              (page) =>
                html`<option value=${page.id} .selected=${page.id === pageOf(document, id)?.id}>
                  ${page.title}
                </option>`,
            )}
          </select>
        </div>
      </div>
      <button type="button" class="pill danger" @click=${() => this.#store.remove(id)}>
        <mantel-icon name="mdi:trash-can-outline"></mantel-icon>${words.value.removeTile}
      </button>`;
  }

  #settingsView({ id, module, config }: LayoutWidget): unknown {
    const schema = this.#schema.value;
    if (!schema) return html`<p class="hint">${words.value.moduleUnavailable(module)}</p>`;
    const isBare = Object.keys({ ...schema.properties, ...config }).length === 0;
    if (isBare) return html`<p class="hint">${words.value.noSettings}</p>`;
    return formView({
      schema,
      values: config,
      offers: this.#offers.value,
      id: "editor-setting",
      onChange: (values) => this.#store.configure(id, values),
    });
  }

  /** Move and resize buttons, as an alternative to dragging (WCAG 2.2, success criterion 2.5.7). */
  #shiftView(id: string): unknown {
    const texts = words.value;
    const button = (name: string, icon: string, by: Partial<Geometry>): unknown =>
      html`<button
        type="button"
        class="icon-button round"
        aria-label=${name}
        @click=${() => this.#grid.shift(id, by)}
      >
        <mantel-icon name=${icon}></mantel-icon>
      </button>`;
    const isWall = this.#store.breakpoint.value === "lg";
    return html`<div class="shift" role="group" aria-label=${texts.move}>
        <span>${texts.move}</span>
        ${button(texts.left, "mdi:arrow-left", { x: -1 })}
        ${button(texts.up, "mdi:arrow-up", { y: -1 })}
        ${button(texts.down, "mdi:arrow-down", { y: 1 })}
        ${button(texts.right, "mdi:arrow-right", { x: 1 })}
      </div>
      <div class="shift" role="group" aria-label=${texts.size}>
        <span>${texts.size}</span>
        ${button(texts.narrower, "mdi:arrow-collapse-horizontal", { w: -1 })}
        ${button(texts.wider, "mdi:arrow-expand-horizontal", { w: 1 })}
        ${isWall ? button(texts.shorter, "mdi:arrow-collapse-vertical", { h: -1 }) : nothing}
        ${isWall ? button(texts.taller, "mdi:arrow-expand-vertical", { h: 1 }) : nothing}
      </div>`;
  }

  /** The recommended size, and a warning if the tile is outside it. */
  #sizeView({ module, geometry }: LayoutWidget): unknown {
    const size = this.#definitions.sizes.value.get(module);
    const { columns } = this.#store.document.value.grid;
    if (this.#store.breakpoint.value !== "lg" || !size?.min) return nothing;
    const texts = words.value;
    const beyond = sizeMisfit(geometry.lg, size, { breakpoint: "lg", columns });
    return html`${beyond === undefined ? nothing : html`<p class="misfit">${texts[beyond]}</p>`}
      <p class="hint">
        ${size.max ? texts.recommendedSizes(...size.min, ...size.max) : texts.recommendedSize(...size.min)}
      </p>`;
  }
}
