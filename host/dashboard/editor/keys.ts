import type { EditorStore } from "./editor-store.ts";
import type { GridView } from "./grid-view.ts";
import { focusPanelButton } from "./toolbar.ts";

/** Keyboard control of the editor. `#editor-help` describes it for users at a tile. */
export function keyHandler(store: EditorStore, grid: GridView): (event: KeyboardEvent) => void {
  return (event) => {
    const target = event.target instanceof HTMLElement ? event.target : undefined;
    const tile = target?.closest<HTMLElement>("[data-tile]")?.dataset.tile;
    const isTyping = target?.matches("input, textarea, select") === true;
    const done =
      commandKey(store, event, isTyping) ||
      (tile !== undefined &&
        (arrowKey(tile, event, grid) || tileKey(tile, event.key, store, grid)));
    if (done) event.preventDefault();
  };
}

/** Ctrl or ⌘ with Z, Y or S, and Escape. A text field keeps its own undo. */
function commandKey(store: EditorStore, event: KeyboardEvent, isTyping: boolean): boolean {
  if (event.key === "Escape" && store.panel.peek() && !isDragging()) {
    store.panel.value = undefined;
    return true;
  }
  if (!event.ctrlKey && !event.metaKey) return false;
  switch (event.key.toLowerCase()) {
    case "s":
      void store.save();
      return true;
    case "y":
      if (!isTyping) store.redo();
      return !isTyping;
    case "z":
      if (isTyping) return false;
      if (event.shiftKey) store.redo();
      else store.undo();
      return true;
    default:
      return false;
  }
}

/** Escape cancels a drag first. */
function isDragging(): boolean {
  return document.querySelector(".ui-draggable-dragging") !== null;
}

function arrowKey(tile: string, { key, shiftKey }: KeyboardEvent, grid: GridView): boolean {
  const forward = document.dir === "rtl" ? -1 : 1;
  const arrows: Readonly<Record<string, readonly [number, number]>> = {
    ArrowLeft: [-forward, 0],
    ArrowRight: [forward, 0],
    ArrowUp: [0, -1],
    ArrowDown: [0, 1],
  };
  const arrow = arrows[key];
  if (!arrow) return false;
  const [x, y] = arrow;
  grid.shift(tile, shiftKey ? { w: x, h: y } : { x, y });
  return true;
}

function tileKey(tile: string, key: string, store: EditorStore, grid: GridView): boolean {
  if (key === "Delete" || key === "Backspace") {
    const next = neighbourOf(tile, store);
    store.remove(tile);
    if (next === undefined) focusPanelButton("gallery");
    else grid.focus(next);
    return true;
  }
  if (key !== "PageUp" && key !== "PageDown") return false;
  const { pages } = store.document.peek();
  const index = pages.findIndex(({ id }) => id === store.page.peek()?.id);
  const target = pages[index + (key === "PageUp" ? -1 : 1)];
  if (target) {
    store.moveToPage(tile, target.id);
    store.openPage(target.id);
    grid.focus(tile);
  }
  return true;
}

function neighbourOf(tile: string, store: EditorStore): string | undefined {
  const widgets = store.page.peek()?.widgets ?? [];
  const index = widgets.findIndex(({ id }) => id === tile);
  return (widgets[index + 1] ?? widgets[index - 1])?.id;
}
