import { createHash } from "node:crypto";
import { type Log, SerialQueue, Throttle } from "@mantel/plugin-sdk";
import type { Documents } from "../document-store.ts";
import { isRecord } from "../engine/values.ts";

const STORE_EVERY_MS = 500;
const INDEX = "code-index";

/** One version of a file's code. Its key changes with the code. */
export interface StoredVersion {
  readonly key: string;
  readonly file: string;
  readonly code: string;
  readonly map: string;
}

/** A file: the key of its last good code, and the devices that its names mean. */
export interface StoredFile {
  readonly key: string;
  readonly names: Readonly<Record<string, string>>;
}

/** The stored code: the versions that are in force or have runs. */
export interface StoredCode {
  readonly files: ReadonlyMap<string, StoredFile>;
  readonly versions: ReadonlyMap<string, StoredVersion>;
}

export const versionKey = (file: string, code: string) =>
  createHash("sha256").update(`${file}\n${code}`).digest("hex").slice(0, 32);

/** Stores the last good code of each file, so that runs continue with the code that they began with. */
export class CodeStore {
  readonly #storage: Documents;
  readonly #log: Log;
  readonly #present: () => StoredCode;
  readonly #queue = new SerialQueue();
  readonly #throttle: Throttle;
  /** The keys of the stored versions. */
  #keys = new Set<string>();

  constructor(storage: Documents, log: Log, present: () => StoredCode) {
    this.#storage = storage;
    this.#log = log;
    this.#present = present;
    this.#throttle = new Throttle(STORE_EVERY_MS, () => void this.flush());
  }

  /** Reads the files. A damaged index is treated as absent. */
  async load(): Promise<Map<string, StoredFile>> {
    const index = await this.#storage.get(INDEX);
    if (!isRecord(index) || !isRecord(index["files"])) return new Map();
    const keys = Array.isArray(index["keys"]) ? (index["keys"] as string[]) : [];
    this.#keys = new Set(keys);
    return new Map(Object.entries(index["files"] as Record<string, StoredFile>));
  }

  async version(key: string): Promise<StoredVersion | undefined> {
    const stored = await this.#storage.get(`code-${key}`);
    return isRecord(stored) ? (stored as unknown as StoredVersion) : undefined;
  }

  /** Stores soon. */
  changed(): void {
    this.#throttle.request();
  }

  /** Stores now. Never rejects. */
  async flush(): Promise<void> {
    await this.#queue.take(async () => {
      try {
        await this.#store();
      } catch (error) {
        this.#log.error("could not store the code of automations", { error });
      }
    });
  }

  async close(): Promise<void> {
    this.#throttle.stop();
    await this.flush();
  }

  async #store(): Promise<void> {
    const { files, versions } = this.#present();
    for (const [key, version] of versions) {
      if (!this.#keys.has(key)) await this.#storage.set(`code-${key}`, version);
    }
    const unused = [...this.#keys].filter((key) => !versions.has(key));
    if (files.size === 0 && versions.size === 0 && unused.length === 0) return;
    await this.#storage.set(INDEX, {
      files: Object.fromEntries(files),
      keys: [...versions.keys()],
    });
    this.#keys = new Set(versions.keys());
    for (const key of unused) await this.#storage.delete(`code-${key}`);
  }
}
