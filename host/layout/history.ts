import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeFully } from "@mantel/plugin-sdk/document-file";
import { sweepTemporaryFiles } from "@mantel/plugin-sdk/durable-file";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { parseJsonText } from "@mantel/plugin-sdk/json-text";
import { Type } from "typebox";
import type { LayoutDocument, LayoutRevision } from "../api/layout.ts";
import type { HostLog } from "../log.ts";
import { check } from "../validate.ts";
import { parseLayout } from "./parse.ts";

const KEPT = 50;

export const StoredLayout = Type.Object({
  savedAt: Type.String({ format: "date-time" }),
  layout: Type.Unknown(),
});

/** The last revisions of the layout, including the current one, in one file each. */
export class LayoutHistory {
  readonly #folder: string;
  readonly #log: HostLog;

  private constructor(folder: string, log: HostLog) {
    this.#folder = folder;
    this.#log = log;
  }

  static async open(folder: string, log: HostLog): Promise<LayoutHistory> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await sweepTemporaryFiles(folder);
    return new LayoutHistory(folder, log);
  }

  /** Stores a revision, and removes all but the last fifty. */
  async keep(layout: LayoutDocument): Promise<void> {
    const entry = { savedAt: new Date().toISOString(), layout };
    await writeFully(this.#path(layout.revision), `${JSON.stringify(entry)}\n`);
    for (const old of (await this.revisions()).slice(KEPT)) await this.forget(old);
  }

  async forget(revision: number): Promise<void> {
    await rm(this.#path(revision), { force: true });
  }

  /** The numbers of the stored revisions, newest first. */
  async revisions(): Promise<number[]> {
    const names = await readdir(this.#folder);
    return names
      .flatMap((name) => /^(\d{1,15})\.json$/.exec(name)?.[1] ?? [])
      .map(Number)
      .toSorted((a, b) => b - a);
  }

  /** Newest first. Unreadable files are skipped. */
  async list(): Promise<LayoutRevision[]> {
    const list: LayoutRevision[] = [];
    for (const revision of await this.revisions()) {
      try {
        const { savedAt, layout } = await this.#read(revision);
        const name = layout.name === undefined ? {} : { name: layout.name };
        list.push({ revision, savedAt, ...name });
      } catch (error) {
        this.#log.warn("cannot read a revision of the layout", { revision, error });
      }
    }
    return list;
  }

  /** @throws MantelError `revision_unknown`; `invalid` if the file is damaged */
  async get(revision: number): Promise<LayoutDocument> {
    return (await this.#read(revision)).layout;
  }

  async #read(revision: number): Promise<{ savedAt: string; layout: LayoutDocument }> {
    const what = `revision ${revision} of the layout`;
    let text: string;
    try {
      text = await readFile(this.#path(revision), "utf8");
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw cause;
      throw new MantelError("revision_unknown", `${what} is not stored; see the history`, {
        cause,
      });
    }
    const entry = check(StoredLayout, parseJsonText(text, what), what);
    return { savedAt: entry.savedAt, layout: { ...parseLayout(entry.layout), revision } };
  }

  #path(revision: number): string {
    return join(this.#folder, `${revision}.json`);
  }
}
