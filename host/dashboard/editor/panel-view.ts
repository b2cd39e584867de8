import { effect, untracked } from "@preact/signals-core";
import { html, nothing, render } from "lit";
import type { TileDependencies } from "../tile.ts";
import type { Definitions } from "./definitions.ts";
import { findWidget } from "./document.ts";
import type { EditorStore, Panel } from "./editor-store.ts";
import { Gallery } from "./gallery.ts";
import type { GridView } from "./grid-view.ts";
import { mergePanel } from "./merge-panel.ts";
import { pagePanel } from "./page-panel.ts";
import { TilePanel } from "./tile-panel.ts";
import { focusPanelButton } from "./toolbar.ts";
import { versionsPanel } from "./versions-panel.ts";
import { words } from "./words.ts";

/**
 * The panel beside the page, or below it on a phone. It shows one panel at a time and never covers
 * the whole page.
 */
export class PanelView {
  readonly element = document.createElement("aside");
  readonly #store: EditorStore;
  readonly #tiles: TileDependencies;
  readonly #definitions: Definitions;
  readonly #grid: GridView;
  readonly #tilePanel: TilePanel;
  readonly #stop: () => void;
  #gallery: Gallery | undefined;
  #shown: Panel | undefined;

  constructor(
    store: EditorStore,
    tiles: TileDependencies,
    definitions: Definitions,
    grid: GridView,
  ) {
    this.#store = store;
    this.#tiles = tiles;
    this.#definitions = definitions;
    this.#grid = grid;
    this.#tilePanel = new TilePanel(store, tiles, definitions, grid);
    this.element.className = "panel";
    this.element.hidden = true;
    this.#stop = effect(() => {
      const panel = store.panel.value;
      const isNew = panel !== this.#shown;
      if (isNew) untracked(() => this.#change(panel));
      render(panel ? this.#view(panel) : nothing, this.element);
      if (isNew && panel?.kind === "tile") untracked(() => this.#focus());
    });
  }

  close(): void {
    this.#stop();
    this.#gallery?.close();
  }

  #focus(): void {
    this.element.querySelector<HTMLElement>("h2")?.focus();
  }

  /** Prepares the next panel. A panel that is closed returns the focus to where it was opened. */
  #change(panel: Panel | undefined): void {
    const previous = this.#shown;
    this.#shown = panel;
    const hadFocus = this.element.contains(document.activeElement);
    this.element.hidden = !panel;
    if (!panel && previous && hadFocus) this.#focusOpenerOf(previous);
    if (panel?.kind === "versions") void this.#store.loadVersions();
    if (panel?.kind === "tile") void this.#tilePanel.readSchema(panel.id);
    if (panel?.kind === "gallery") {
      this.#gallery ??= new Gallery(this.#store, this.#tiles, this.#definitions);
    } else {
      this.#gallery?.close();
      this.#gallery = undefined;
    }
  }

  #focusOpenerOf(panel: Panel): void {
    if (panel.kind === "tile") this.#grid.focus(panel.id);
    else focusPanelButton(panel.kind);
  }

  #view(panel: Panel): unknown {
    return html`<div class="head">
        <h2 tabindex="-1" dir="auto">${this.#titleOf(panel)}</h2>
        <button
          type="button"
          class="icon-button"
          aria-label=${words.value.closePanel}
          @click=${() => (this.#store.panel.value = undefined)}
        >
          <mantel-icon name="mdi:close"></mantel-icon>
        </button>
      </div>
      <div class="inside">${this.#contentOf(panel)}</div>`;
  }

  #titleOf(panel: Panel): string {
    const texts = words.value;
    switch (panel.kind) {
      case "gallery":
        return texts.gallery;
      case "page":
        return texts.pageSettings;
      case "versions":
        return texts.versions;
      case "merge":
        return texts.changedOnlyElsewhere;
      case "tile": {
        const widget = findWidget(this.#store.document.value, panel.id);
        return widget ? this.#store.nameOf(widget) : panel.id;
      }
    }
  }

  #contentOf(panel: Panel): unknown {
    switch (panel.kind) {
      case "gallery":
        return this.#gallery?.element;
      case "page":
        return pagePanel(this.#store);
      case "versions":
        return versionsPanel(this.#store, this.#tiles.contexts.formats.value);
      case "merge":
        return mergePanel(this.#store);
      case "tile":
        return this.#tilePanel.view(panel.id);
    }
  }
}
