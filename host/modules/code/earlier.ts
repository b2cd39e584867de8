import { isDeepStrictEqual } from "node:util";
import type { ModuleLog } from "../logs.ts";
import type { ModuleStatus } from "../status.ts";
import type { LastGoods } from "./last-good.ts";
import type { Identity, Ran, Version } from "./version.ts";

interface EarlierParts {
  readonly id: string;
  readonly lastGoods: LastGoods;
  readonly status: ModuleStatus;
  readonly log: ModuleLog;
}

/**
 * What a module ran before what it runs, and whether somebody went back to it: then what is on the disk
 * waits until it changes or a reload is asked for. Both outlast the host.
 */
export class Earlier {
  readonly #parts: EarlierParts;
  #ran: Ran = {};
  #isRead = false;
  #keeping: Promise<void> = Promise.resolve();

  constructor(parts: EarlierParts) {
    this.#parts = parts;
  }

  /** What can be gone back to. */
  get version(): Ran["version"] {
    return this.#ran.version;
  }

  /** Somebody went back from what was on the disk then. */
  get isHeld(): boolean {
    return this.#ran.left !== undefined;
  }

  /** Takes over what is known from before the host's start. */
  async read(): Promise<void> {
    if (this.#isRead) return;
    this.#isRead = true;
    this.#show(await this.#parts.lastGoods.earlierOf(this.#parts.id));
  }

  /** Whether this is what somebody went back from. */
  isLeft(onDisk: Version): boolean {
    const { left } = this.#ran;
    if (!left) return false;
    const { at: _at, ...identity } = left;
    return isSame(identity, identityOf(onDisk));
  }

  /** `now` runs in place of `before`, which becomes what can be gone back to. */
  replaced(before: Version | undefined, now: Version): void {
    if (before && isSame(identityOf(before), identityOf(now))) return;
    const version = before ? { ...before, until: new Date().toISOString() } : this.#ran.version;
    this.#become({ version });
  }

  /** Somebody went back from `left`, and what is before that is not known. */
  wentBack(left: Version): void {
    this.#become({ left: { ...identityOf(left), at: new Date().toISOString() } });
  }

  /** What is on the disk is wanted again. */
  release(): void {
    if (this.isHeld) this.#become({ version: this.#ran.version });
  }

  /** What ran before is what runs again, or is wrong. */
  forget(): void {
    this.#become({});
  }

  /** Resolves when all of it is on the disk. */
  async kept(): Promise<void> {
    await this.#keeping;
  }

  /** Nobody waits for the disk. */
  #become(ran: Ran): void {
    const { id, lastGoods, log } = this.#parts;
    this.#show(ran);
    this.#keeping = this.#keeping.then(() => lastGoods.keepEarlier(id, ran, log));
  }

  #show(ran: Ran): void {
    this.#ran = ran;
    const { version, left } = ran;
    this.#parts.status.couldGoBack({
      earlier: version ? { version: version.plugin.version, until: version.until } : null,
      heldSince: left?.at ?? null,
    });
  }
}

function identityOf({ plugin, server, widget }: Version): Identity {
  return { plugin, server: server?.hash, widget: widget?.hash };
}

/** One may come from the disk, where what is absent is not there. */
function isSame(one: Identity, other: Identity): boolean {
  const plain = (identity: Identity): unknown => JSON.parse(JSON.stringify(identity));
  return isDeepStrictEqual(plain(one), plain(other));
}
