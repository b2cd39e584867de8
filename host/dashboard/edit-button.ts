import { effect, type ReadonlySignal } from "@preact/signals-core";
import { html, render } from "lit";
import { words } from "./i18n/later.ts";
import type { Breakpoint, Page } from "./layout.ts";
import type { Session } from "./session.ts";
import type { TileDependencies } from "./tile.ts";

interface Start {
  readonly root: HTMLElement;
  readonly session: Session;
  readonly tiles: TileDependencies;
  readonly page: ReadonlySignal<Page | undefined>;
  readonly breakpoint: ReadonlySignal<Breakpoint>;
}

/** Button that opens the layout editor. Its code is loaded on first use. */
export function editButton(start: Start): HTMLElement {
  const button = document.createElement("button");
  button.className = "icon-button edit-layout";
  button.type = "button";
  button.addEventListener("click", () => void open(button, start));
  effect(() => {
    button.ariaLabel = words.value.editLayout;
    render(html`<mantel-icon name="mdi:pencil-outline"></mantel-icon>`, button);
  });
  return button;
}

async function open(button: HTMLButtonElement, start: Start): Promise<void> {
  const { root, session, tiles, page, breakpoint } = start;
  button.disabled = true;
  try {
    const { editLayout } = await import("./editor/editor.ts");
    const pageId = page.peek()?.id ?? "";
    await editLayout({ root, api: session.api, tiles, pageId, breakpoint: breakpoint.peek() });
  } catch (error) {
    console.error("could not open the editor", error);
    const reason = error instanceof Error ? error.message : String(error);
    tiles.contexts.shared.announce(words.value.editorFailed(reason));
  } finally {
    button.disabled = false;
    button.focus();
  }
}
