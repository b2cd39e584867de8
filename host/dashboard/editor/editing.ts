import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals-core";
import { ApiError } from "../api.ts";
import type { Breakpoint, Geometry } from "../layout.ts";
import type { TileParts } from "../tile.ts";
import {
  findPage,
  findWidget,
  type LayoutDocument,
  type LayoutPage,
  type LayoutWidget,
  type Override,
} from "./document.ts";
import type { Draft } from "./draft.ts";
import {
  addPage,
  addWidget,
  arrangePage,
  changePage,
  configure,
  derivePage,
  type Drop,
  dropWidget,
  movePage,
  moveToPage,
  type NewWidget,
  removePage,
  removeWidget,
} from "./operations.ts";
import { words } from "./words.ts";

export type Panel =
  | { readonly kind: "gallery" | "page" | "versions" | "merge" }
  | { readonly kind: "tile"; readonly id: string };

/** Something to say at the top: that it went wrong, with every fault, or that it is done. */
export interface Message {
  readonly tone: "alert" | "note";
  readonly text: string;
  readonly faults?: readonly { readonly pointer: string; readonly detail: string }[];
}

export interface EditingParts {
  readonly draft: Draft;
  readonly tiles: TileParts;
  readonly pageId: string;
  readonly breakpoint: Breakpoint;
}

/** What a person does in the editor: each act is a step that can be taken back, and is said aloud. */
export class Editing {
  readonly draft: Draft;
  readonly breakpoint: Signal<Breakpoint>;
  readonly panel = signal<Panel | undefined>(undefined);
  readonly message = signal<Message | undefined>(undefined);
  readonly page: ReadonlySignal<LayoutPage | undefined>;
  readonly #tiles: TileParts;
  readonly #pageId: Signal<string>;

  constructor({ draft, tiles, pageId, breakpoint }: EditingParts) {
    this.draft = draft;
    this.#tiles = tiles;
    this.#pageId = signal(pageId);
    this.breakpoint = signal(breakpoint);
    this.page = computed(() => {
      const { value } = draft.document;
      return findPage(value, this.#pageId.value) ?? value.pages[0];
    });
  }

  get document(): LayoutDocument {
    return this.draft.document.peek();
  }

  openPage(id: string): void {
    this.#pageId.value = id;
    if (this.panel.peek()?.kind === "tile") this.panel.value = undefined;
  }

  /** A tile as people know it: by its title, its room, its device, or the name of its module. */
  nameOf({ module, config }: LayoutWidget): string {
    const { store } = this.#tiles;
    const { title, room, device } = config;
    const name = store.module(module).value?.name ?? module;
    const own = [title, room, typeof device === "string" ? store.device(device).value?.name : ""];
    const first = own.find((each) => typeof each === "string" && each !== "");
    return typeof first === "string" ? `${name} ${first}` : name;
  }

  nameOfId(id: string): string {
    const widget = findWidget(this.document, id);
    return widget ? this.nameOf(widget) : id;
  }

  /** Returns the id of the new tile. */
  add(widget: NewWidget): string | undefined {
    const page = this.page.peek();
    if (!page) return undefined;
    const { document, id } = addWidget(this.document, page.id, widget);
    const added = findWidget(document, id);
    this.#do(document, words.value.added(added ? this.nameOf(added) : id));
    return id;
  }

  /** Puts a widget where it was dropped on the page. Returns the id of the new tile. */
  drop(drop: Drop): string | undefined {
    const page = this.page.peek();
    if (!page) return undefined;
    const at = { pageId: page.id, breakpoint: this.breakpoint.peek() };
    const { document, id } = dropWidget(this.document, at, drop);
    const added = findWidget(document, id);
    const label = words.value.added(added ? this.nameOf(added) : id);
    this.#do(document, label, { said: `${label}: ${words.value.place(drop.place)}` });
    return id;
  }

  remove(id: string): void {
    const name = this.nameOfId(id);
    this.#do(removeWidget(this.document, id), words.value.removed(name));
    this.panel.value = undefined;
  }

  configure(id: string, config: LayoutWidget["config"]): void {
    const label = words.value.configured(this.nameOfId(id));
    this.#do(configure(this.document, id, config), label, { key: `config/${id}` });
  }

  moveToPage(id: string, pageId: string): void {
    const title = findPage(this.document, pageId)?.title ?? pageId;
    const label = words.value.movedTo(this.nameOfId(id), title);
    this.#do(moveToPage(this.document, id, pageId), label);
  }

  arrange(id: string, how: "moved" | "resized", places: ReadonlyMap<string, Geometry>): void {
    const page = this.page.peek();
    if (!page) return;
    const at = { pageId: page.id, breakpoint: this.breakpoint.peek() };
    const label = words.value[how](this.nameOfId(id));
    const place = places.get(id);
    const said = place ? `${label}: ${words.value.place(place)}` : label;
    this.#do(arrangePage(this.document, at, places), label, { key: `${how}/${id}`, said });
  }

  derive(breakpoint: Override): void {
    const page = this.page.peek();
    if (!page) return;
    this.#do(derivePage(this.document, page.id, breakpoint), words.value.derived(page.title));
  }

  addPage(): void {
    const title = words.value.newPage;
    const { document, id } = addPage(this.document, title);
    this.#do(document, words.value.pageAdded(title));
    this.openPage(id);
    this.panel.value = { kind: "page" };
  }

  changePage(change: { title?: string; icon?: string }): void {
    const page = this.page.peek();
    if (!page) return;
    const label = words.value.pageChanged(change.title ?? page.title);
    this.#do(changePage(this.document, page.id, change), label, { key: `page/${page.id}` });
  }

  movePage(by: number): void {
    const page = this.page.peek();
    if (page) this.#do(movePage(this.document, page.id, by), words.value.pageMoved(page.title));
  }

  removePage(): void {
    const page = this.page.peek();
    if (!page) return;
    this.#do(removePage(this.document, page.id), words.value.pageRemoved(page.title));
    this.panel.value = undefined;
  }

  undo(): void {
    const label = this.draft.takeBack();
    this.say(label === undefined ? words.value.nothingToUndo : words.value.undone(label));
  }

  redo(): void {
    const label = this.draft.doAgain();
    this.say(label === undefined ? words.value.nothingToRedo : words.value.redone(label));
  }

  /** Saves, or opens what somebody else saved meanwhile. */
  async save(): Promise<void> {
    await this.attempt(async () => {
      if (await this.draft.save()) this.tell({ tone: "note", text: words.value.isSaved });
    }, words.value.notSaved);
  }

  /** Does something in the host. What it refuses is shown whole, and nothing is lost by it. */
  async attempt(act: () => Promise<void>, failed: (reason: string) => string): Promise<void> {
    this.message.value = undefined;
    try {
      await act();
      if (this.draft.theirs.peek()) this.panel.value = { kind: "merge" };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const faults = error instanceof ApiError ? error.faults : [];
      this.tell({ tone: "alert", text: failed(reason), faults });
    }
  }

  tell(message: Message): void {
    this.message.value = message;
    if (message.tone === "note") this.say(message.text);
  }

  say(text: string): void {
    this.#tiles.surroundings.shared.announce(text);
  }

  #do(
    document: LayoutDocument,
    label: string,
    { key, said = label }: { key?: string; said?: string } = {},
  ): void {
    this.message.value = undefined;
    this.draft.change(document, label, key);
    this.say(said);
  }
}
