import { effect, untracked } from "@preact/signals-core";
import { render } from "lit";
import type { Api } from "../api.ts";
import type { Breakpoint } from "../layout.ts";
import { Scope } from "../scope.ts";
import type { TileParts } from "../tile.ts";
import { titles } from "../title.ts";
import { words as shellWords } from "../words/shell.ts";
import { barOf } from "./bar.ts";
import { Definitions } from "./definitions.ts";
import { Draft } from "./draft.ts";
import { Editing } from "./editing.ts";
import { GridView } from "./grid-view.ts";
import { keysFor } from "./keys.ts";
import { askToLeave } from "./leave.ts";
import type { Drop } from "./operations.ts";
import { PanelView } from "./panel-view.ts";
import { stripOf } from "./strip.ts";
import { wearStyles } from "./styles.ts";
import { words } from "./words.ts";

export interface EditorParts {
  readonly root: HTMLElement;
  readonly api: Api;
  readonly tiles: TileParts;
  /** The page and the screen to begin with. */
  readonly pageId: string;
  readonly breakpoint: Breakpoint;
}

/**
 * Opens the layout editor over the dashboard; resolves when the person leaves it.
 * @throws ApiError when the layout cannot be read
 */
export async function editLayout({ root, api, tiles, ...start }: EditorParts): Promise<void> {
  const draft = await Draft.open(api);
  const editing = new Editing({ draft, tiles, ...start });
  const scope = new Scope();
  wearStyles(scope);
  titles.over.value = shellWords.value.editLayout;
  scope.onEnd(() => (titles.over.value = ""));
  await new Promise<void>((leave) => new Editor(editing, { root, api, tiles, scope, leave }));
  scope.end();
}

interface Frame {
  readonly root: HTMLElement;
  readonly api: Api;
  readonly tiles: TileParts;
  /** Ends when the editor is left. */
  readonly scope: Scope;
  readonly leave: () => void;
}

/** The wall is arranged as wide as this window, its two sides left out, and never narrower than a tablet. */
const LEAST_WALL_PX = 960;
const SIDES_PX = 44;

class Editor {
  readonly #editing: Editing;
  readonly #frame: Frame;
  readonly #definitions: Definitions;
  readonly #element = document.createElement("div");
  readonly #strip = document.createElement("div");
  readonly #empty = document.createElement("p");
  readonly #grid: GridView;
  readonly #panel: PanelView;

  constructor(editing: Editing, frame: Frame) {
    this.#editing = editing;
    this.#frame = frame;
    const { root, tiles, api, scope } = frame;
    this.#definitions = new Definitions(tiles.store, tiles.loader);
    this.#grid = new GridView(tiles, {
      arranged: (id, how, places) => editing.arrange(id, how, places),
      droppedOn: (id, pageId) => editing.moveToPage(id, pageId),
      draggedIn: (module, place, others) => this.#takeIn(module, { place, others }),
      chosen: (id) => this.#choose(id),
      nameOf: (id) => editing.nameOfId(id),
    });
    this.#panel = new PanelView({
      editing,
      tiles,
      api,
      definitions: this.#definitions,
      shift: (id, by) => this.#shift(id, by),
      closed: (panel) => this.#focusAfter(panel),
    });
    this.#build(root);
    this.#draw();
    this.#follow();
    const keys = keysFor(editing, {
      shift: (id, by) => this.#shift(id, by),
      focus: (id) => (id === undefined ? this.#focusOn("gallery") : this.#grid.focus(id)),
    });
    document.addEventListener("keydown", keys, { signal: scope.signal });
    scope.onEnd(() => this.#close());
  }

  #build(root: HTMLElement): void {
    const bar = document.createElement("header");
    const body = document.createElement("div");
    const wrap = document.createElement("main");
    const help = document.createElement("p");
    const { scope } = this.#frame;
    this.#element.className = "editor";
    bar.className = "bar";
    body.className = "body";
    wrap.className = "sheet";
    help.id = "editor-help";
    help.className = "unseen";
    this.#empty.className = "empty";
    this.#fit(wrap);
    wrap.append(this.#strip, help, this.#grid.element, this.#empty);
    body.append(wrap, this.#panel.element);
    this.#element.append(bar, body);
    for (const other of root.children) if (other instanceof HTMLElement) other.inert = true;
    root.append(this.#element);
    scope.onEnd(
      effect(() => {
        help.textContent = words.value.help;
        render(
          barOf(this.#editing, () => void this.#tryToLeave()),
          bar,
        );
      }),
    );
    bar.querySelector<HTMLElement>("[aria-current]")?.focus();
  }

  #fit(sheet: HTMLElement): void {
    const { style } = this.#grid.element;
    const observer = new ResizeObserver(([entry]) => {
      const wall = Math.max(LEAST_WALL_PX, innerWidth - SIDES_PX);
      const room = entry?.contentRect.width ?? wall;
      style.setProperty("--wall", `${wall}`);
      style.setProperty("--fit", `${Math.min(1, room / wall)}`);
    });
    observer.observe(sheet);
    this.#frame.scope.onEnd(() => observer.disconnect());
  }

  #draw(): void {
    const { scope, tiles } = this.#frame;
    const { draft, page, breakpoint, panel } = this.#editing;
    scope.onEnd(
      effect(() => {
        const shown = page.value;
        const { grid } = draft.document.value;
        const at = breakpoint.value;
        const sizes = this.#definitions.sizes.value;
        this.#empty.hidden = !shown || shown.widgets.length > 0;
        this.#empty.textContent = words.value.emptyPage;
        if (shown) untracked(() => this.#grid.show({ page: shown, grid, breakpoint: at }, sizes));
      }),
    );
    scope.onEnd(
      effect(() => {
        const modules = page.value?.widgets.map(({ module }) => module) ?? [];
        if (tiles.store.modules().value.length > 0) void this.#definitions.readSizes(modules);
      }),
    );
    scope.onEnd(
      effect(() => {
        const open = panel.value;
        this.#grid.mark(open?.kind === "tile" ? open.id : undefined);
      }),
    );
    scope.onEnd(effect(() => void render(stripOf(this.#editing), this.#strip)));
  }

  /** What others save is noticed at once, and a tab is not closed over changes without a question. */
  #follow(): void {
    const { scope, tiles } = this.#frame;
    const { draft } = this.#editing;
    scope.onEnd(
      effect(() => {
        const revision = tiles.store.layout.value?.revision ?? 0;
        const isBusy = draft.busy.value;
        if (!isBusy) untracked(() => void this.#notice(revision));
      }),
    );
    const keep = (event: BeforeUnloadEvent): void => {
      if (draft.dirty.peek()) event.preventDefault();
    };
    addEventListener("beforeunload", keep, { signal: scope.signal });
  }

  async #notice(revision: number): Promise<void> {
    try {
      const taken = await this.#editing.draft.notice(revision);
      if (taken) this.#editing.tell({ tone: "note", text: words.value.takenOver });
      else if (this.#editing.draft.theirs.peek()) this.#editing.say(words.value.changedElsewhere);
    } catch (error) {
      console.warn("what changed elsewhere could not be read", error);
    }
  }

  #takeIn(module: string, { place, others }: Pick<Drop, "place" | "others">): void {
    const size = this.#definitions.sizes.peek().get(module)?.default ?? [place.w, place.h];
    const id = this.#editing.drop({ widget: { module, config: {}, size }, place, others });
    if (id !== undefined) this.#choose(id);
  }

  #choose(id: string): void {
    this.#editing.panel.value = { kind: "tile", id };
    this.#panel.focus();
  }

  #shift(id: string, by: Parameters<GridView["shift"]>[1]): void {
    if (this.#grid.shift(id, by)) return;
    const { value: say } = words;
    const isSmaller = (by.w ?? 0) + (by.h ?? 0) < 0;
    const why = by.w || by.h ? (isSmaller ? say.atSmallest : say.atLargest) : say.atEdge;
    this.#editing.say(why(this.#editing.nameOfId(id)));
  }

  #focusAfter(panel: { readonly kind: string; readonly id?: string }): void {
    if (panel.id !== undefined) this.#grid.focus(panel.id);
    else this.#focusOn(panel.kind);
  }

  #focusOn(kind: string): void {
    this.#element.querySelector<HTMLElement>(`[data-opens=${kind}]`)?.focus();
  }

  async #tryToLeave(): Promise<void> {
    const { draft } = this.#editing;
    const answer = draft.dirty.peek() ? await askToLeave(this.#element) : "leave";
    if (answer === "save") await this.#editing.save();
    if (answer === "leave" || (answer === "save" && !draft.dirty.peek())) this.#frame.leave();
  }

  #close(): void {
    this.#panel.close();
    this.#grid.close();
    this.#element.remove();
    for (const other of this.#frame.root.children) {
      if (other instanceof HTMLElement) other.inert = false;
    }
  }
}
