import { computed, effect, type ReadonlySignal, signal, untracked } from "@preact/signals-core";
import { html, nothing, render } from "lit";
import type { Api } from "../api.ts";
import type { Offers } from "../form/field.ts";
import type { FieldSchema } from "../form/schema.ts";
import type { Geometry } from "../layout.ts";
import type { TileParts } from "../tile.ts";
import { spokenLocale } from "../words/language.ts";
import { type Definitions, schemaOf } from "./definitions.ts";
import { findWidget } from "./document.ts";
import type { Editing, Panel } from "./editing.ts";
import { Gallery } from "./gallery.ts";
import { MergePanel } from "./merge-panel.ts";
import { pagePanel, tilePanel } from "./panels.ts";
import { Versions } from "./versions.ts";
import { words } from "./words.ts";

interface PanelParts {
  readonly editing: Editing;
  readonly tiles: TileParts;
  readonly api: Api;
  readonly definitions: Definitions;
  readonly shift: (id: string, by: Partial<Geometry>) => void;
  /** A panel was closed while the focus was in it. */
  readonly closed: (panel: Panel) => void;
}

/** The panel beside the page, or below it on a phone: one thing at a time, never over the whole. */
export class PanelView {
  readonly element = document.createElement("aside");
  readonly #parts: PanelParts;
  readonly #versions: Versions;
  readonly #merge: MergePanel;
  readonly #schema = signal<FieldSchema | undefined>(undefined);
  readonly #offers: ReadonlySignal<Offers>;
  readonly #stop: (() => void)[];
  #gallery: Gallery | undefined;
  #open: Panel | undefined;

  constructor(parts: PanelParts) {
    this.#parts = parts;
    const { editing, tiles, api } = parts;
    const { store, surroundings } = tiles;
    this.#merge = new MergePanel(editing);
    this.#versions = new Versions({
      api,
      editing,
      when: (at) => {
        const formats = surroundings.formats.value;
        return `${formats.date(at, "short")}, ${formats.time(at)}`;
      },
    });
    const devices = store.devices();
    this.#offers = computed(() => ({
      devices: devices.value.map(({ id, name, kind }) => ({ id, name, kind })),
      rooms: [...new Set(devices.value.flatMap(({ room }) => room ?? []))].toSorted(),
    }));
    this.element.className = "panel";
    this.#stop = [
      effect(() => {
        const panel = editing.panel.value;
        untracked(() => this.#prepare(panel));
      }),
      effect(() => void render(this.#view(editing.panel.value), this.element)),
    ];
  }

  /** Goes to the first thing in the panel. */
  focus(): void {
    this.element.querySelector<HTMLElement>("h2")?.focus();
  }

  close(): void {
    for (const stop of this.#stop) stop();
    this.#gallery?.close();
  }

  #prepare(panel: Panel | undefined): void {
    const before = this.#open;
    this.#open = panel;
    const hadFocus = this.element.contains(document.activeElement);
    this.element.hidden = !panel;
    if (!panel && before && hadFocus) this.#parts.closed(before);
    if (panel?.kind === "versions") void this.#versions.load();
    if (panel?.kind === "tile") void this.#readSchema(panel.id);
    this.#setGallery(panel?.kind === "gallery");
  }

  #setGallery(isOpen: boolean): void {
    const { editing, tiles, definitions } = this.#parts;
    if (!isOpen) this.#gallery?.close();
    this.#gallery = isOpen
      ? (this.#gallery ??
        new Gallery({
          tiles,
          definitions,
          screen: () => ({
            breakpoint: editing.breakpoint.peek(),
            columns: editing.document.grid.columns,
          }),
          onPick: (widget) => this.#add(widget),
        }))
      : undefined;
  }

  #add(widget: Parameters<Editing["add"]>[0]): void {
    const { editing } = this.#parts;
    const id = editing.add(widget);
    if (id === undefined) return;
    editing.panel.value = { kind: "tile", id };
    this.focus();
  }

  async #readSchema(id: string): Promise<void> {
    this.#schema.value = undefined;
    const module = findWidget(this.#parts.editing.document, id)?.module;
    const definition =
      module === undefined
        ? undefined
        : await this.#parts.definitions.find(module)?.catch(() => undefined);
    const { panel } = this.#parts.editing;
    const now = panel.peek();
    if (now?.kind !== "tile" || now.id !== id) return;
    this.#schema.value = definition && schemaOf(definition, spokenLocale.peek());
  }

  #view(panel: Panel | undefined): unknown {
    if (!panel) return nothing;
    const { editing } = this.#parts;
    return html`<div class="head">
        <h2 tabindex="-1" dir="auto">${this.#titleOf(panel)}</h2>
        <button
          type="button"
          class="icon-button"
          aria-label=${words.value.closePanel}
          @click=${() => (editing.panel.value = undefined)}
        >
          <mantel-icon name="mdi:close"></mantel-icon>
        </button>
      </div>
      <div class="inside">${this.#contentOf(panel)}</div>`;
  }

  #titleOf(panel: Panel): string {
    const say = words.value;
    switch (panel.kind) {
      case "gallery":
        return say.gallery;
      case "page":
        return say.pageSettings;
      case "versions":
        return say.versions;
      case "merge":
        return say.theirChanges;
      case "tile": {
        const widget = findWidget(this.#parts.editing.draft.document.value, panel.id);
        return widget ? this.#parts.editing.nameOf(widget) : panel.id;
      }
    }
  }

  #contentOf(panel: Panel): unknown {
    const { editing, shift, definitions } = this.#parts;
    switch (panel.kind) {
      case "gallery":
        return this.#gallery?.element;
      case "page":
        return pagePanel(editing);
      case "versions":
        return this.#versions.view();
      case "merge":
        return this.#merge.view();
      case "tile":
        return tilePanel(editing, {
          id: panel.id,
          schema: this.#schema.value,
          offers: this.#offers.value,
          sizes: definitions.sizes.value,
          shift: (by) => shift(panel.id, by),
        });
    }
  }
}
