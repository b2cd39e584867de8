import type { Geometry } from "../layout.ts";
import type { Editing } from "./editing.ts";

interface Acts {
  readonly shift: (id: string, by: Partial<Geometry>) => void;
  /** Goes to a tile, or to where one can be added. */
  readonly focus: (id: string | undefined) => void;
}

/** Everything in the editor by keyboard; `#editor-help` says it to the person at a tile. */
export function keysFor(editing: Editing, acts: Acts): (event: KeyboardEvent) => void {
  return (event) => {
    const target = event.target instanceof HTMLElement ? event.target : undefined;
    const tile = target?.closest<HTMLElement>("[data-tile]")?.dataset.tile;
    const isTyping = target?.matches("input, textarea, select") === true;
    const done =
      commandKey(editing, event, isTyping) ||
      (tile !== undefined &&
        (arrowKey(tile, event, acts) || tileKey(tile, { editing, event, acts })));
    if (done) event.preventDefault();
  };
}

/** Ctrl or ⌘ with Z, Y, S, and Escape. A field keeps its own undo. */
function commandKey(editing: Editing, event: KeyboardEvent, isTyping: boolean): boolean {
  if (event.key === "Escape" && editing.panel.peek() && !isDragging()) {
    editing.panel.value = undefined;
    return true;
  }
  if (!event.ctrlKey && !event.metaKey) return false;
  const commands: Readonly<Record<string, () => unknown>> = {
    s: () => editing.save(),
    ...(isTyping ? {} : { y: () => editing.redo(), z: () => takeStep(editing, event) }),
  };
  const command = commands[event.key.toLowerCase()];
  command?.();
  return command !== undefined;
}

/** Escape ends what is dragged first. */
function isDragging(): boolean {
  return document.querySelector(".ui-draggable-dragging") !== null;
}

function takeStep(editing: Editing, { shiftKey }: KeyboardEvent): void {
  if (shiftKey) editing.redo();
  else editing.undo();
}

function arrowKey(tile: string, { key, shiftKey }: KeyboardEvent, { shift }: Acts): boolean {
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
  shift(tile, shiftKey ? { w: x, h: y } : { x, y });
  return true;
}

function tileKey(
  tile: string,
  { editing, event: { key }, acts }: { editing: Editing; event: KeyboardEvent; acts: Acts },
): boolean {
  if (key === "Delete" || key === "Backspace") {
    const next = neighbourOf(tile, editing);
    editing.remove(tile);
    acts.focus(next);
    return true;
  }
  if (key !== "PageUp" && key !== "PageDown") return false;
  const { pages } = editing.document;
  const index = pages.findIndex(({ id }) => id === editing.page.peek()?.id);
  const target = pages[index + (key === "PageUp" ? -1 : 1)];
  if (target) {
    editing.moveToPage(tile, target.id);
    editing.openPage(target.id);
    acts.focus(tile);
  }
  return true;
}

function neighbourOf(tile: string, editing: Editing): string | undefined {
  const widgets = editing.page.peek()?.widgets ?? [];
  const index = widgets.findIndex(({ id }) => id === tile);
  return (widgets[index + 1] ?? widgets[index - 1])?.id;
}
