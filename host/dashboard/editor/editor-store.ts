import {
  computed,
  effect,
  type ReadonlySignal,
  type Signal,
  signal,
  untracked,
} from "@preact/signals-core";
import type { LayoutRevision } from "../../api/layout.ts";
import { type Api, ApiError, type Fault } from "../api.ts";
import type { Breakpoint, Geometry } from "../layout.ts";
import type { Store } from "../store.ts";
import {
  findPage,
  findWidget,
  type LayoutDocument,
  type LayoutPage,
  type LayoutWidget,
  type Override,
} from "./document.ts";
import { merge, sameContent } from "./merge.ts";
import * as operations from "./operations.ts";
import { Undo } from "./undo.ts";
import { placeText, words } from "./words.ts";

export type Panel =
  | { readonly kind: "gallery" | "page" | "versions" | "merge" }
  | { readonly kind: "tile"; readonly id: string };

/** A message at the top: an error with all its faults, or a confirmation. */
export interface Message {
  readonly tone: "alert" | "note";
  readonly text: string;
  readonly faults?: readonly Fault[];
}

/** The place where a tile was dropped, and the places of the tiles that made way. */
export interface Dropped {
  readonly place: Geometry;
  readonly others: ReadonlyMap<string, Geometry>;
}

export interface EditorStart {
  readonly api: Api;
  /** The dashboard's copy of the home: the names of modules and devices, and the host's layout. */
  readonly dashboard: Store;
  readonly announce: (text: string) => void;
  /** The initial page and screen. */
  readonly pageId: string;
  readonly breakpoint: Breakpoint;
}

/**
 * The state of the layout editor, and all actions on it. Views read its signals and call its
 * methods. Each edit is an undo step and is announced to screen readers.
 */
export class EditorStore {
  readonly #api: Api;
  readonly #dashboard: Store;
  readonly #history: Signal<Undo<LayoutDocument>>;
  readonly #base: Signal<LayoutDocument>;
  readonly #theirs = signal<LayoutDocument | undefined>(undefined);
  readonly #takeTheirs = signal<ReadonlySet<string>>(new Set());
  readonly #isSaving = signal(false);
  readonly #message = signal<Message | undefined>(undefined);
  readonly #versions = signal<readonly LayoutRevision[]>([]);
  readonly #pageId: Signal<string>;

  /** The drafts to undo and redo, and the current one. */
  readonly history: ReadonlySignal<Undo<LayoutDocument>>;
  /** The draft: the layout with all edits. */
  readonly document = computed(() => this.history.value.value);
  /** The host's layout from which the draft was edited. A save sends its revision. */
  readonly base: ReadonlySignal<LayoutDocument>;
  /** True if there are unsaved edits. */
  readonly isDirty = computed(() => !sameContent(this.document.value, this.base.value));
  /** True while the host stores a layout. */
  readonly isSaving: ReadonlySignal<boolean> = this.#isSaving;

  /** A newer layout saved by someone else, until it is merged into the draft. */
  readonly theirs: ReadonlySignal<LayoutDocument | undefined> = this.#theirs;
  /** The merge of the draft and `theirs`, with the conflicts for the user to decide. */
  readonly merge = computed(() => {
    const theirs = this.theirs.value;
    return theirs && merge({ base: this.base.value, mine: this.document.value, theirs });
  });
  /** The keys of the conflicts that the user decided for their side. */
  readonly takeTheirs: ReadonlySignal<ReadonlySet<string>> = this.#takeTheirs;

  /** The page that is shown. */
  readonly page = computed(
    () => findPage(this.document.value, this.#pageId.value) ?? this.document.value.pages[0],
  );
  /** The screen whose arrangement is shown. Views may set it. */
  readonly breakpoint: Signal<Breakpoint>;
  /** The open panel. The panel of a tile selects that tile. Views may set it. */
  readonly panel = signal<Panel | undefined>(undefined);
  readonly message: ReadonlySignal<Message | undefined> = this.#message;
  /** The layouts that can be restored, as of the last `loadVersions`. */
  readonly versions: ReadonlySignal<readonly LayoutRevision[]> = this.#versions;
  /** Tells a text to screen readers. */
  readonly announce: (text: string) => void;

  private constructor(start: EditorStart, stored: LayoutDocument) {
    this.#api = start.api;
    this.#dashboard = start.dashboard;
    this.announce = start.announce;
    this.history = this.#history = signal(Undo.of(stored));
    this.base = this.#base = signal(stored);
    this.#pageId = signal(start.pageId);
    this.breakpoint = signal(start.breakpoint);
  }

  /**
   * Reads the layout from the host.
   * @throws ApiError
   */
  static async open(start: EditorStart): Promise<EditorStore> {
    return new EditorStore(start, await start.api.get("/layout"));
  }

  openPage(id: string): void {
    this.#pageId.value = id;
    if (this.panel.peek()?.kind === "tile") this.panel.value = undefined;
  }

  /** The display name of a tile: its title, room, device or module name. */
  nameOf({ module, config }: Pick<LayoutWidget, "module" | "config">): string {
    const { title, room, device } = config;
    const name = this.#dashboard.module(module).value?.name ?? module;
    const shown = typeof device === "string" ? this.#dashboard.device(device).value : undefined;
    const own = [title, room, shown?.name].find((each) => typeof each === "string" && each !== "");
    return typeof own === "string" ? `${name} ${own}` : name;
  }

  nameOfId(id: string): string {
    const widget = findWidget(this.document.peek(), id);
    return widget ? this.nameOf(widget) : id;
  }

  /** Adds a tile in the first gap of the page, or where it was dropped, and opens its panel. */
  add(widget: operations.NewWidget, dropped?: Dropped): void {
    const page = this.page.peek();
    if (!page) return;
    const label = words.value.added(this.nameOf(widget));
    let { document, id } = operations.addWidget(this.document.peek(), page.id, widget);
    let announcement = label;
    if (dropped) {
      const at = { pageId: page.id, breakpoint: this.breakpoint.peek() };
      const places = new Map([...dropped.others, [id, dropped.place]]);
      document = operations.arrangePage(document, at, places);
      announcement = `${label}: ${placeText(dropped.place)}`;
    }
    this.#edit(document, label, { announcement });
    this.panel.value = { kind: "tile", id };
  }

  remove(id: string): void {
    const name = this.nameOfId(id);
    this.#edit(operations.removeWidget(this.document.peek(), id), words.value.removed(name));
    this.panel.value = undefined;
  }

  configure(id: string, config: LayoutWidget["config"]): void {
    const label = words.value.configured(this.nameOfId(id));
    const document = operations.configure(this.document.peek(), id, config);
    this.#edit(document, label, { key: `config/${id}` });
  }

  moveToPage(id: string, pageId: string): void {
    const document = this.document.peek();
    const title = findPage(document, pageId)?.title ?? pageId;
    const label = words.value.movedTo(this.nameOfId(id), title);
    this.#edit(operations.moveToPage(document, id, pageId), label);
  }

  /** Takes the places of all tiles of the page after one was moved or resized. */
  arrange(id: string, how: "moved" | "resized", places: ReadonlyMap<string, Geometry>): void {
    const page = this.page.peek();
    if (!page) return;
    const at = { pageId: page.id, breakpoint: this.breakpoint.peek() };
    const document = operations.arrangePage(this.document.peek(), at, places);
    const label = words.value[how](this.nameOfId(id));
    const place = places.get(id);
    const announcement = place ? `${label}: ${placeText(place)}` : label;
    this.#edit(document, label, { key: `${how}/${id}`, announcement });
  }

  /** Drops the page's own arrangement for a screen. */
  derive({ id, title }: LayoutPage, breakpoint: Override): void {
    const document = operations.derivePage(this.document.peek(), id, breakpoint);
    this.#edit(document, words.value.wallLayoutUsedAgain(title));
  }

  addPage(): void {
    const title = words.value.newPage;
    const { document, id } = operations.addPage(this.document.peek(), title);
    this.#edit(document, words.value.pageAdded(title));
    this.openPage(id);
    this.panel.value = { kind: "page" };
  }

  changePage({ id, title }: LayoutPage, change: { title?: string; icon?: string }): void {
    const label = words.value.pageChanged(change.title ?? title);
    const document = operations.changePage(this.document.peek(), id, change);
    this.#edit(document, label, { key: `page/${id}` });
  }

  movePage({ id, title }: LayoutPage, by: number): void {
    this.#edit(operations.movePage(this.document.peek(), id, by), words.value.pageMoved(title));
  }

  removePage({ id, title }: LayoutPage): void {
    this.#edit(operations.removePage(this.document.peek(), id), words.value.pageRemoved(title));
    this.panel.value = undefined;
  }

  undo(): void {
    const label = this.history.peek().undoLabel;
    this.#history.value = this.#history.peek().undone();
    this.announce(label === undefined ? words.value.nothingToUndo : words.value.undone(label));
  }

  redo(): void {
    const label = this.history.peek().redoLabel;
    this.#history.value = this.#history.peek().redone();
    this.announce(label === undefined ? words.value.nothingToRedo : words.value.redone(label));
  }

  /** Saves the draft, or opens the merge panel if someone else has saved in the meantime. */
  async save(): Promise<void> {
    await this.#attempt(async () => {
      const send = () => this.#put(this.document.peek());
      if (await this.#store(send)) this.#note(words.value.isSaved);
    }, words.value.notSaved);
  }

  /** Restores a previous version at once. The draft becomes an undo step. */
  async restore(revision: number): Promise<void> {
    const label = words.value.restored(revision);
    const send = () => {
      const base = this.#base.peek();
      return this.#api.change("POST", `/layout/restore/${revision}`, { revision: base.revision });
    };
    await this.#attempt(() => this.#replace(label, send), words.value.notSaved);
  }

  /** Saves a file as the layout at once. The draft becomes an undo step. The host validates it. */
  async importFile(file: File): Promise<void> {
    const texts = words.value;
    await this.#attempt(
      async () => {
        const document = parseJson(await file.text());
        const send = () => this.#put(document);
        await this.#replace(texts.imported(file.name), send);
      },
      (reason) => texts.notImported(file.name, reason),
    );
  }

  /** Reads the previous versions again. */
  async loadVersions(): Promise<void> {
    await this.#attempt(
      async () => {
        const { history } = await this.#api.get("/layout/history");
        this.#versions.value = history;
      },
      (reason) => reason,
    );
  }

  /** Decides a conflict by its key: for their side or for mine. */
  decide(key: string, isTheirs: boolean): void {
    const keys = new Set(this.#takeTheirs.peek());
    if (isTheirs) keys.add(key);
    else keys.delete(key);
    this.#takeTheirs.value = keys;
  }

  /** Merges `theirs` into the draft, as an undo step, and closes the merge panel. */
  takeOver(): void {
    const theirs = this.#theirs.peek();
    const merged = this.merge.peek()?.resolve(this.#takeTheirs.peek());
    if (!theirs || !merged) return;
    this.#rebase(theirs, merged, words.value.merged);
    this.#takeTheirs.value = new Set();
    this.panel.value = undefined;
    this.#note(words.value.merged);
  }

  /**
   * Follows layouts that others save, until the returned function is called. Without unsaved edits
   * they are shown at once; otherwise they become `theirs`.
   */
  follow(): () => void {
    return effect(() => {
      const revision = this.#dashboard.layout.value?.revision ?? 0;
      // During a save, the announced revision may be that of the save itself.
      if (!this.#isSaving.value) untracked(() => void this.#notice(revision));
    });
  }

  /** Records an edit as an undo step and announces it. Steps in a row with one `key` are one. */
  #edit(
    document: LayoutDocument,
    label: string,
    { key, announcement = label }: { key?: string; announcement?: string } = {},
  ): void {
    this.#message.value = undefined;
    this.#record(document, label, key);
    this.announce(announcement);
  }

  /** An equal document is not a step. */
  #record(document: LayoutDocument, label: string, key?: string): void {
    if (sameContent(document, this.document.peek())) return;
    this.#history.value = this.#history.peek().done(document, label, key);
  }

  #rebase(base: LayoutDocument, document: LayoutDocument, label: string): void {
    this.#record(document, label);
    this.#base.value = base;
    this.#theirs.value = undefined;
  }

  async #notice(revision: number): Promise<void> {
    const known = Math.max(this.#base.peek().revision, this.#theirs.peek()?.revision ?? 0);
    try {
      const stored = revision > known ? await this.#api.get("/layout") : this.#base.peek();
      const isNewer = stored.revision > this.#base.peek().revision;
      if (isNewer && !this.isDirty.peek()) {
        this.#rebase(stored, stored, words.value.newVersionShown);
        return this.#note(words.value.newVersionShown);
      }
      if (isNewer) this.#theirs.value = stored;
      if (this.#theirs.peek()) this.announce(words.value.changedElsewhere);
    } catch (error) {
      console.warn("could not read the changed layout", error);
    }
  }

  #put(body: unknown): Promise<LayoutDocument> {
    return this.#api.change("PUT", "/layout", { body, revision: this.#base.peek().revision });
  }

  async #replace(label: string, send: () => Promise<LayoutDocument>): Promise<void> {
    const isStored = await this.#store(async () => {
      const stored = await send();
      this.#record(stored, label);
      return stored;
    });
    if (!isStored) return;
    this.#note(label);
    await this.loadVersions();
  }

  /**
   * Returns true if the host stored the layout. Otherwise the host has a newer one, which becomes
   * `theirs`.
   * @throws ApiError
   */
  async #store(send: () => Promise<LayoutDocument>): Promise<boolean> {
    if (this.#theirs.peek() || this.#isSaving.peek()) return false;
    this.#isSaving.value = true;
    try {
      this.#base.value = await send();
      return true;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 412) throw error;
      this.#theirs.value = await this.#api.get("/layout");
      return false;
    } finally {
      this.#isSaving.value = false;
    }
  }

  /** Runs a host request. A refusal is shown with all its faults, and the draft is kept. */
  async #attempt(act: () => Promise<void>, failed: (reason: string) => string): Promise<void> {
    this.#message.value = undefined;
    try {
      await act();
      if (this.#theirs.peek()) this.panel.value = { kind: "merge" };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const faults = error instanceof ApiError ? error.faults : [];
      this.#message.value = { tone: "alert", text: failed(reason), faults };
    }
  }

  #note(text: string): void {
    this.#message.value = { tone: "note", text };
    this.announce(text);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new Error(words.value.notJson, { cause });
  }
}
