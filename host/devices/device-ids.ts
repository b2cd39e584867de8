import { basename } from "node:path";
import type { DeviceKind } from "@mantel/plugin-sdk/device";
import { DocumentFile } from "@mantel/plugin-sdk/document-file";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { SerialQueue } from "@mantel/plugin-sdk/serial-queue";
import { KINDS } from "@mantel/plugin-sdk/vocabulary";
import { Type, type Static } from "typebox";
import type { HostLog } from "../log.ts";
import { inTimeSlices } from "../time-slices.ts";
import { check } from "../validate.ts";

/** The most ids for one module, far above any home: a faulty bridge may invent devices. */
const IDS_PER_BRIDGE = 20_000;

const Owner = Type.Object({ bridge: Type.String(), nativeId: Type.String() });
export const DeviceIdsFile = Type.Object({
  version: Type.Literal(1),
  /** The owner of each id, such as `{"lamps:light:3": {"bridge": "lamp-bridge", "nativeId": "00:17:88"}}`. */
  ids: Type.Record(Type.String({ pattern: "^[a-z0-9]+:[a-z-]+:[1-9][0-9]*$" }), Owner, {
    additionalProperties: false,
  }),
});
type Owner = Static<typeof Owner>;
type NumbersFile = Static<typeof DeviceIdsFile>;

/** An item of a bridge that needs a permanent id: a device by its kind, or a scene. */
export interface NumberedDevice {
  readonly nativeId: string;
  readonly kind: string;
}

/**
 * Assigns permanent ids to items of bridges, `<bridge_kind>:<kind>:<number>`. An id belongs to a
 * module and its native id for ever: it survives restarts and is never assigned again. A device whose kind is
 * replaced by a more exact one (`formerly` in the vocabulary) keeps the id with the former kind.
 */
export class DeviceIds {
  readonly #file: DocumentFile<NumbersFile>;
  readonly #queue = new SerialQueue();
  readonly #owners = new Map<string, Owner>();
  readonly #ids = new Map<string, string>();
  readonly #lastNumbers = new Map<string, number>();
  readonly #idsOfBridge = new Map<string, number>();
  /** Ids that may not be stored yet. They must not be announced. */
  readonly #unsaved = new Set<string>();

  /** Reads the table, or creates one. */
  static async open(path: string, log: HostLog): Promise<DeviceIds> {
    const parse = (value: unknown) => check(DeviceIdsFile, value, basename(path));
    const file = new DocumentFile({ path, parse, log, version: 1 });
    return new DeviceIds(file, await file.load());
  }

  private constructor(file: DocumentFile<NumbersFile>, stored: NumbersFile | undefined) {
    this.#file = file;
    for (const [id, owner] of Object.entries(stored?.ids ?? {})) this.#keep(id, owner);
  }

  /**
   * The ids of `things`, in their order. Resolves when new ids are stored.
   *
   * @throws MantelError `disk_full`, and `invalid` if the module has too many ids
   */
  async assign(
    bridge: { readonly id: string; readonly kind: string },
    things: readonly NumberedDevice[],
  ): Promise<string[]> {
    const ids = await inTimeSlices(this.#assigning(bridge, things));
    if (this.#areUnsaved(ids)) await this.#queue.take(() => this.#save(ids));
    return ids;
  }

  bridgeOf(id: string): string | undefined {
    return this.#owners.get(id)?.bridge;
  }

  *#assigning(
    bridge: { readonly id: string; readonly kind: string },
    things: readonly NumberedDevice[],
  ): Generator<undefined, string[]> {
    const ids: string[] = [];
    for (const { kind, nativeId } of things) {
      const prefix = `${bridge.kind}:${kind}`;
      const owner = { bridge: bridge.id, nativeId };
      const known = this.#ids.get(keyOf(prefix, owner)) ?? this.#formerId(bridge.kind, kind, owner);
      ids.push(known ?? this.#give(prefix, owner));
      yield;
    }
    return ids;
  }

  /** The id that a device has from before its kind existed. */
  #formerId(bridgeKind: string, kind: string, owner: Owner): string | undefined {
    const former = Object.hasOwn(KINDS, kind) ? KINDS[kind as DeviceKind].formerly : undefined;
    return former
      ?.map((each) => this.#ids.get(keyOf(`${bridgeKind}:${each}`, owner)))
      .find((id) => id !== undefined);
  }

  #give(prefix: string, owner: Owner): string {
    if ((this.#idsOfBridge.get(owner.bridge) ?? 0) >= IDS_PER_BRIDGE) {
      throw new MantelError(
        "invalid",
        `${owner.bridge} has used ${IDS_PER_BRIDGE} ids; it must keep the native id of each device`,
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

  /** Each write contains all current ids, so it may make the next write unnecessary. */
  async #save(ids: readonly string[]): Promise<void> {
    if (!this.#areUnsaved(ids)) return;
    const saved = [...this.#unsaved];
    await this.#file.write({ version: 1, ids: Object.fromEntries(this.#owners) });
    for (const id of saved) this.#unsaved.delete(id);
  }
}

const keyOf = (prefix: string, { bridge, nativeId }: Owner) =>
  JSON.stringify([prefix, bridge, nativeId]);
