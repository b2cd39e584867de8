import { effect } from "@preact/signals-core";
import { html, render } from "lit";
import type { Api } from "../api.ts";
import { words as shellWords } from "../i18n/later.ts";
import type { Breakpoint } from "../layout.ts";
import { Scope } from "../scope.ts";
import type { TileDependencies } from "../tile.ts";
import { titles } from "../title.ts";
import { Definitions } from "./definitions.ts";
import { EditorStore } from "./editor-store.ts";
import { GridView } from "./grid-view.ts";
import { keyHandler } from "./keys.ts";
import { PanelView } from "./panel-view.ts";
import { statusStrip, toolbar } from "./toolbar.ts";
import { words } from "./words.ts";
import formStyles from "../form/form.css";
import editorStyles from "./editor.css";
import galleryStyles from "./gallery.css";
import gridViewStyles from "./grid-view.css";
import panelStyles from "./panel-view.css";
import stripStyles from "./strip.css";
import gridStyles from "gridstack/dist/gridstack.css";

export interface EditorDependencies {
  readonly root: HTMLElement;
  readonly api: Api;
  readonly tiles: TileDependencies;
  /** The initial page and screen. */
  readonly pageId: string;
  readonly breakpoint: Breakpoint;
}

const STYLES = [
  gridStyles,
  formStyles,
  editorStyles,
  stripStyles,
  gridViewStyles,
  panelStyles,
  galleryStyles,
];

/**
 * Minimum width for editing the wall layout: that of a tablet. Otherwise the width of the window
 * without its side panels.
 */
const LEAST_WALL_PX = 960;
const SIDES_PX = 44;

/**
 * Opens the layout editor over the dashboard. Resolves when the user leaves it.
 * @throws ApiError if the layout cannot be read
 */
export async function editLayout({
  root,
  api,
  tiles,
  pageId,
  breakpoint,
}: EditorDependencies): Promise<void> {
  const store = await EditorStore.open({
    api,
    dashboard: tiles.store,
    announce: (text) => tiles.contexts.shared.announce(text),
    pageId,
    breakpoint,
  });
  const definitions = new Definitions(tiles.store, tiles.loader);
  const grid = new GridView(store, tiles, definitions);
  const panel = new PanelView(store, tiles, definitions, grid);
  const element = document.createElement("div");
  const bar = document.createElement("header");
  const body = document.createElement("div");
  const scope = new Scope();
  element.className = "editor";
  bar.className = "bar";
  body.className = "body";
  body.append(sheetOf(store, grid, scope), panel.element);
  element.append(bar, body);
  adoptStyles(scope);
  titles.over.value = shellWords.value.editLayout;
  scope.onEnd(() => (titles.over.value = ""));
  cover(root, element, scope);
  scope.onEnd(() => grid.close());
  scope.onEnd(() => panel.close());
  await new Promise<void>((leave) => {
    const tryToLeave = async (): Promise<void> => {
      if (await mayLeave(store, element)) leave();
    };
    scope.onEnd(
      effect(
        () =>
          void render(
            toolbar(store, () => void tryToLeave()),
            bar,
          ),
      ),
    );
    bar.querySelector<HTMLElement>("[aria-current]")?.focus();
    grid.start();
    scope.onEnd(store.follow());
    listen(store, grid, scope);
  });
  scope.end();
}

/** The page, below its messages and above the text for an empty page. */
function sheetOf(store: EditorStore, grid: GridView, scope: Scope): HTMLElement {
  const sheet = document.createElement("main");
  const messages = document.createElement("div");
  const help = document.createElement("p");
  sheet.className = "sheet";
  help.id = "editor-help";
  help.className = "unseen";
  sheet.append(messages, help, grid.element, grid.empty);
  scope.onEnd(effect(() => void render(statusStrip(store), messages)));
  scope.onEnd(effect(() => void (help.textContent = words.value.help)));
  const { style } = grid.element;
  const observer = new ResizeObserver(([entry]) => {
    const wall = Math.max(LEAST_WALL_PX, innerWidth - SIDES_PX);
    const room = entry?.contentRect.width ?? wall;
    style.setProperty("--wall", `${wall}`);
    style.setProperty("--fit", `${Math.min(1, room / wall)}`);
  });
  observer.observe(sheet);
  scope.onEnd(() => observer.disconnect());
  return sheet;
}

/** Shows the editor instead of the dashboard. */
function cover(root: HTMLElement, editor: HTMLElement, scope: Scope): void {
  const others = [...root.children].filter((each) => each instanceof HTMLElement);
  for (const other of others) other.inert = true;
  root.append(editor);
  scope.onEnd(() => {
    editor.remove();
    for (const other of others) other.inert = false;
  });
}

/** Keys, and the browser's question before a tab with unsaved edits is closed. */
function listen(store: EditorStore, grid: GridView, { signal }: Scope): void {
  document.addEventListener("keydown", keyHandler(store, grid), { signal });
  const keep = (event: BeforeUnloadEvent): void => {
    if (store.isDirty.peek()) event.preventDefault();
  };
  addEventListener("beforeunload", keep, { signal });
}

/** Asks whether to save or discard unsaved edits. Returns true if none are left to lose. */
async function mayLeave(store: EditorStore, editor: HTMLElement): Promise<boolean> {
  if (!store.isDirty.peek()) return true;
  const answer = await askToDiscard(editor);
  if (answer === "save") await store.save();
  return answer === "discard" || (answer === "save" && !store.isDirty.peek());
}

/** Escape keeps editing. */
function askToDiscard(editor: HTMLElement): Promise<string> {
  const dialog = document.createElement("dialog");
  const texts = words.value;
  render(
    html`<form method="dialog">
      <p id="editor-leave">${texts.unsaved}</p>
      <div class="actions">
        <button class="pill strong" value="save">${texts.save}</button>
        <button class="pill" value="discard">${texts.discard}</button>
        <button class="pill" value="stay">${texts.keepEditing}</button>
      </div>
    </form>`,
    dialog,
  );
  dialog.setAttribute("aria-labelledby", "editor-leave");
  editor.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue);
    });
  });
}

/** The styles come with the editor's code, so that the dashboard does not wait for them. */
function adoptStyles(scope: Scope): void {
  const sheets = new Set(
    STYLES.map((css) => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(css);
      return sheet;
    }),
  );
  document.adoptedStyleSheets.push(...sheets);
  scope.onEnd(() => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => !sheets.has(each));
  });
}
