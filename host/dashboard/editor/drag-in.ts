import { GridStack, type GridItemHTMLElement } from "gridstack";

/** What a page takes from outside; grid-view.ts reads the module from a node's `id`. */
export const DRAGGED_IN = ".card";

interface DraggedIn {
  /** What is dragged by: a button of the card, which may be tapped as well. */
  readonly handle: string;
  /** What goes with the pointer: it leaves the card for as long as it is dragged. */
  readonly preview: HTMLElement;
  readonly module: string;
  /** The cells that it takes on the page. */
  readonly cells: () => { readonly w: number; readonly h: number };
}

/** Lets a card be dragged onto the page, by a pointer or, after a moment, by a finger. */
export function letDragIn(card: HTMLElement, { handle, preview, module, cells }: DraggedIn): void {
  const item: GridItemHTMLElement = card;
  const ghost = document.createElement("div");
  ghost.className = "card ghost";
  // Not setupDragIn: it tells by events that are named like those of the browser's own dragging.
  GridStack.getDD().dragIn(card, {
    handle,
    helper: () => {
      ghost.style.position = "fixed"; // or gridstack would change how the editor is positioned
      card.style.minHeight = `${card.offsetHeight}px`;
      ghost.append(preview);
      card.closest(".editor")?.append(ghost);
      return ghost;
    },
    start: () => {
      item.gridstackNode = { id: module, ...cells() };
    },
    stop: () => {
      card.prepend(preview);
      card.style.minHeight = "";
      // Let go over its card, a pointer clicks as well; that is no tap.
      card.addEventListener("click", swallow, { capture: true });
      setTimeout(() => card.removeEventListener("click", swallow, { capture: true }));
    },
  });
}

function swallow(event: Event): void {
  event.stopPropagation();
}
