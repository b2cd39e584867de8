import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { DocumentFile } from "@mantel/plugin-sdk/document-file";
import { parseJsonText } from "@mantel/plugin-sdk/json-text";
import { SerialQueue } from "@mantel/plugin-sdk/serial-queue";
import type { LayoutDocument, LayoutInput, LayoutRevision } from "../api/layout.ts";
import { withoutFormerName } from "../documents/former-names.ts";
import { assertIfMatch } from "../documents/if-match.ts";
import type { Bus } from "../events/bus.ts";
import type { HostLog } from "../log.ts";
import { LayoutHistory } from "./history.ts";
import { parseLayout } from "./parse.ts";

interface Dependencies {
  readonly file: DocumentFile<LayoutInput>;
  readonly history: LayoutHistory;
  readonly bus: Bus;
}

/** The layout of the dashboard, and its last revisions. Every accepted change is a new revision. */
export class LayoutStore {
  readonly #parts: Dependencies;
  readonly #queue = new SerialQueue();
  #current: LayoutDocument;

  private constructor(parts: Dependencies, current: LayoutDocument) {
    this.#parts = parts;
    this.#current = current;
  }

  /**
   * Reads `<data>/layout.json`; the first start uses the shipped layout. A damaged layout is set
   * aside and the last good one is used. A layout edited by hand becomes a new revision.
   */
  static async open(options: {
    dataFolder: string;
    shippedFolder: string;
    log: HostLog;
    bus: Bus;
  }): Promise<LayoutStore> {
    const { dataFolder, shippedFolder, log, bus } = options;
    const path = join(dataFolder, "layout.json");
    const file = new DocumentFile({ path, parse: parseLayout, log, version: 1 });
    const history = await LayoutHistory.open(join(dataFolder, "layout-history"), log);
    const loaded = (await file.load()) ?? (await shippedLayout(shippedFolder));
    const input = layoutInCurrentNames(loaded, log);
    const current = { ...input, revision: input.revision ?? 0 };
    const store = new LayoutStore({ file, history, bus }, current);
    if (!(await store.#isKept(current))) await store.#store(current);
    return store;
  }

  get current(): LayoutDocument {
    return this.#current;
  }

  /**
   * Replaces the whole layout. Ignores the `revision` in the document; `ifMatch` is compared.
   * @throws MantelError `invalid` with every fault, `revision_stale`, `disk_full`
   */
  async replace(document: unknown, ifMatch?: string): Promise<LayoutDocument> {
    const layout = parseLayout(document);
    return this.#queue.take(() => this.#change(layout, ifMatch));
  }

  /** The revisions that can be restored, newest first, including the current one. */
  history(): Promise<LayoutRevision[]> {
    return this.#parts.history.list();
  }

  /**
   * Stores the content of an earlier revision as the newest one.
   * @throws MantelError `revision_unknown`, `revision_stale`, `disk_full`
   */
  restore(revision: number, ifMatch?: string): Promise<LayoutDocument> {
    return this.#queue.take(async () =>
      this.#change(await this.#parts.history.get(revision), ifMatch),
    );
  }

  async #change(layout: LayoutInput, ifMatch: string | undefined): Promise<LayoutDocument> {
    assertIfMatch(this.#current.revision, ifMatch);
    await this.#store(layout);
    this.#parts.bus.emit("layout.changed", { revision: this.#current.revision });
    return this.#current;
  }

  /** Stores the history first, so that the current revision is always in it. */
  async #store(layout: LayoutInput): Promise<void> {
    const { file, history } = this.#parts;
    const [newest = 0] = await history.revisions();
    const revision = Math.max(newest, this.#current.revision) + 1;
    const next: LayoutDocument = { ...layout, revision };
    await history.keep(next);
    try {
      await file.write(next);
    } catch (error) {
      await history.forget(revision);
      throw error;
    }
    this.#current = next;
  }

  async #isKept(layout: LayoutDocument): Promise<boolean> {
    try {
      return isDeepStrictEqual(await this.#parts.history.get(layout.revision), layout);
    } catch {
      return false; // damaged or missing: store the layout again
    }
  }
}

/** The layout with the present names of the fields that its tiles show. */
export function layoutInCurrentNames(layout: LayoutInput, log?: HostLog): LayoutInput {
  const pages = layout.pages.map((page) => ({
    ...page,
    widgets: page.widgets.map((widget) => {
      const { device, devices, field: from } = widget.config;
      const [shown] = [device, ...(Array.isArray(devices) ? devices : [])].filter(isText);
      if (shown === undefined || !isText(from)) return widget;
      const to = withoutFormerName(shown, from);
      if (to === from) return widget;
      log?.info("renamed a field in a document", { document: "layout", tile: widget.id, from, to });
      return { ...widget, config: { ...widget.config, field: to } };
    }),
  }));
  return { ...layout, pages };
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

async function shippedLayout(folder: string): Promise<LayoutInput> {
  const path = join(folder, "default.json");
  return parseLayout(parseJsonText(await readFile(path, "utf8"), path));
}
