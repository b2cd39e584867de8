import { basename } from "node:path";
import { DocumentFile } from "@mantel/plugin-sdk/document-file";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { Turns } from "@mantel/plugin-sdk/turns";
import { Type, type Static } from "typebox";
import type { HostLog } from "../log.ts";
import { check } from "../validate.ts";

/** Ids that one module may ever be given. Far above any house; it bounds a bridge that makes names up. */
const IDS_PER_BRIDGE = 20_000;

const Owner = Type.Object({ bridge: Type.String(), nativeId: Type.String() });
const NumbersFile = Type.Object({
  version: Type.Literal(1),
  /** Who was given each id, such as `{"hue:light:3": {"bridge": "hue-bridge", "nativeId": "00:17:88"}}`. */
  ids: Type.Record(Type.String({ pattern: "^[a-z0-9]+:[a-z-]+:[1-9][0-9]*$" }), Owner, {
    additionalProperties: false,
  }),
});
type Owner = Static<typeof Owner>;
type NumbersFile = Static<typeof NumbersFile>;

/** One thing of a bridge that needs a lasting id: a device by its kind, or a scene. */
export interface Numbered {
  readonly nativeId: string;
  readonly kind: string;
}

/**
 * Gives things of bridges their lasting ids, `<bridge_kind>:<kind>:<number>`. An id belongs to a
 * module and its native id for ever: it is the same after a restart and is never given to another.
 */
export class NumberTable {
  readonly #file: DocumentFile<NumbersFile>;
  readonly #turns = new Turns();
  readonly #owners = new Map<string, Owner>();
  readonly #ids = new Map<string, string>();
  readonly #lastNumbers = new Map<string, number>();
  readonly #idsOfBridge = new Map<string, number>();
  /** Ids that are not known to be on the disk. They must not be announced yet. */
  readonly #unsaved = new Set<string>();

  /** Reads the table, or begins one. */
  static async open(path: string, log: HostLog): Promise<NumberTable> {
    const parse = (value: unknown) => check(NumbersFile, value, basename(path));
    const file = new DocumentFile({ path, parse, log, version: 1 });
    return new NumberTable(file, await file.load());
  }

  private constructor(file: DocumentFile<NumbersFile>, stored: NumbersFile | undefined) {
    this.#file = file;
    for (const [id, owner] of Object.entries(stored?.ids ?? {})) this.#keep(id, owner);
  }

  /**
   * The ids of `things`, in their order. Resolves when the new ones among them are on the disk.
   *
   * @throws MantelError `disk_full`, and `invalid` when the module has been given too many ids
   */
  async assign(
    bridge: { readonly id: string; readonly kind: string },
    things: readonly Numbered[],
  ): Promise<string[]> {
    const ids = things.map((thing) => {
      const prefix = `${bridge.kind}:${thing.kind}`;
      const owner = { bridge: bridge.id, nativeId: thing.nativeId };
      return this.#ids.get(keyOf(prefix, owner)) ?? this.#give(prefix, owner);
    });
    if (this.#areUnsaved(ids)) await this.#turns.take(() => this.#save(ids));
    return ids;
  }

  #give(prefix: string, owner: Owner): string {
    if ((this.#idsOfBridge.get(owner.bridge) ?? 0) >= IDS_PER_BRIDGE) {
      throw new MantelError(
        "invalid",
        `${owner.bridge} has used ${IDS_PER_BRIDGE} ids: it must keep the native id of a device the same`,
      );
    }
    const id = `${prefix}:${(this.#lastNumbers.get(prefix) ?? 0) + 1}`;
    this.#keep(id, owner);
    this.#unsaved.add(id);
    return id;
  }

  #keep(id: string, owner: Owner): void {
    const end = id.lastIndexOf(":");
    const prefix = id.slice(0, end);
    const number = Number(id.slice(end + 1));
    this.#owners.set(id, owner);
    this.#ids.set(keyOf(prefix, owner), id);
    this.#lastNumbers.set(prefix, Math.max(number, this.#lastNumbers.get(prefix) ?? 0));
    this.#idsOfBridge.set(owner.bridge, (this.#idsOfBridge.get(owner.bridge) ?? 0) + 1);
  }

  #areUnsaved(ids: readonly string[]): boolean {
    return ids.some((id) => this.#unsaved.has(id));
  }

  /** Each write has all ids there are then, so it may have spared the next one its turn. */
  async #save(ids: readonly string[]): Promise<void> {
    if (!this.#areUnsaved(ids)) return;
    const saved = [...this.#unsaved];
    await this.#file.write({ version: 1, ids: Object.fromEntries(this.#owners) });
    for (const id of saved) this.#unsaved.delete(id);
  }
}

const keyOf = (prefix: string, { bridge, nativeId }: Owner) =>
  JSON.stringify([prefix, bridge, nativeId]);
