import { join } from "node:path";
import type { SourceChange } from "@mantel/plugin-sdk/sources";
import type { HostLog } from "../../log.ts";
import { SourceFolder } from "./source-folder.ts";

/** The folders of sources below the data folder, each opened by the first plugin that follows it. */
export class SourceFolders {
  readonly #dataFolder: string;
  readonly #log: HostLog;
  readonly #open = new Map<string, SourceFolder>();

  constructor({ dataFolder, log }: { readonly dataFolder: string; readonly log: HostLog }) {
    this.#dataFolder = dataFolder;
    this.#log = log;
  }

  folder(name: string): SourceFolder {
    const folder =
      this.#open.get(name) ?? new SourceFolder(join(this.#dataFolder, name), this.#log);
    this.#open.set(name, folder);
    return folder;
  }

  close(): void {
    for (const folder of this.#open.values()) folder.close();
  }
}

/** Sends the changes of a folder to one process, in order; of a file that changes often only the newest waits. */
export class SourceFollower {
  readonly #folder: SourceFolder;
  readonly #deliver: (change: SourceChange) => Promise<void>;
  #waiting: SourceChange[] = [];
  #sending: Promise<void> | undefined;
  #stop: (() => void) | undefined;

  /** @param deliver resolves when the process has taken the change */
  constructor(folder: SourceFolder, deliver: (change: SourceChange) => Promise<void>) {
    this.#folder = folder;
    this.#deliver = deliver;
  }

  /** Sends the present files, and changes from now on. Resolves when the process has taken the present ones. */
  async begin(): Promise<void> {
    const present = await this.#folder.present();
    this.#stop ??= this.#folder.on((change) => {
      this.#waiting = this.#waiting.filter(({ name }) => name !== change.name);
      this.#send([change]);
    });
    this.#send(present);
    await this.#sending;
  }

  close(): void {
    this.#stop?.();
    this.#waiting = [];
  }

  #send(changes: readonly SourceChange[]): void {
    this.#waiting.push(...changes);
    this.#sending ??= this.#sendAll().finally(() => (this.#sending = undefined));
  }

  async #sendAll(): Promise<void> {
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      await this.#deliver(next).catch(() => undefined); // a process that takes nothing is ended by its heartbeat
    }
  }
}
