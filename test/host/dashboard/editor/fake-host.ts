import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { effect } from "@preact/signals-core";
import { Api, ApiError } from "../../../../host/dashboard/api.ts";
import type { LayoutDocument } from "../../../../host/dashboard/editor/document.ts";
import { EditorStore } from "../../../../host/dashboard/editor/editor-store.ts";
import { Store } from "../../../../host/dashboard/store.ts";
import { layout, page, widget } from "./layouts.ts";

/** The first layout of each host. */
export const STORED = layout(
  page("home", widget("clock", [0, 0, 4, 8]), widget("room", [4, 0, 8, 5])),
  page("lights"),
);

/** The layout of a host as its API gives it: each answer is a copy, and a save needs the revision. */
export class FakeHost extends Api {
  readonly dashboard = new Store();
  /** The changes that were sent, with the revision in `If-Match`. */
  readonly sent: string[] = [];
  /** The answer to every request. */
  failure: ApiError | undefined;
  readonly #revisions: LayoutDocument[] = [structuredClone(STORED)];
  #answering = Promise.resolve();

  constructor() {
    super(() => undefined);
  }

  get stored(): LayoutDocument {
    const stored = this.#revisions.at(-1);
    assert(stored);
    return stored;
  }

  override async get<T>(path: string): Promise<T> {
    if (this.failure) throw this.failure;
    if (path === "/layout") return structuredClone(this.stored) as T;
    assert.equal(path, "/layout/history");
    const savedAt = "2025-01-01T00:00:00Z";
    const history = this.#revisions.map(({ revision }) => ({ revision, savedAt }));
    return { history: history.toReversed() } as T;
  }

  override async change<T>(
    method: "PUT" | "POST" | "PATCH",
    path: string,
    { body, revision }: { body?: unknown; revision: number },
  ): Promise<T> {
    this.sent.push(`${method} ${path} at ${revision}`);
    if (this.failure) throw this.failure;
    if (revision !== this.stored.revision) throw new ApiError(412, { code: "revision_stale" });
    const restored = path.split("/layout/restore/")[1];
    const content = restored === undefined ? body : this.#revisions[Number(restored) - 1];
    this.#store(content as LayoutDocument);
    const answer = structuredClone(this.stored) as T;
    await this.#answering;
    return answer;
  }

  /** Stores changes at once, but answers only after the returned function was called. */
  holdAnswers(): () => void {
    let answer = (): void => undefined;
    this.#answering = new Promise((resolve) => (answer = resolve));
    return answer;
  }

  /** Saves a change of another screen, whose event has not come yet. */
  saveElsewhere(change: (document: LayoutDocument) => LayoutDocument): void {
    this.#store(change(this.stored));
  }

  /** Brings the event that the layout has changed. */
  announce(): void {
    this.dashboard.layout.value = structuredClone(this.stored);
  }

  #store(content: LayoutDocument): void {
    this.#revisions.push({ ...structuredClone(content), revision: this.stored.revision + 1 });
  }
}

interface Opened {
  readonly host?: FakeHost;
  readonly pageId?: string;
  readonly breakpoint?: "lg" | "md" | "sm";
  /** Follows what others save until the test ends. */
  readonly follow?: TestContext;
}

/** Opens the editor. `said` has what screen readers were told. */
export async function open({
  host = new FakeHost(),
  pageId = "home",
  breakpoint = "lg",
  follow,
}: Opened = {}) {
  const said: string[] = [];
  const { dashboard } = host;
  const announce = (text: string): void => void said.push(text);
  const store = await EditorStore.open({ api: host, dashboard, announce, pageId, breakpoint });
  follow?.after(store.follow());
  return { store, host, dashboard, said };
}

/** The ids of all tiles, page by page. */
export function tilesOf({ pages }: LayoutDocument): string[] {
  return pages.flatMap(({ widgets }) => widgets.map(({ id }) => id));
}

/** Resolves when a condition on signals is true. */
export function until(holds: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const stop = effect(() => {
      if (holds()) queueMicrotask(() => resolve(stop()));
    });
  });
}
