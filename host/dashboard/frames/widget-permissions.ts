import type { Device, DeviceKind } from "@mantel/plugin-sdk/device";
import type { Needs } from "@mantel/plugin-sdk/needs";
import type { RoomOrGroup } from "@mantel/plugin-sdk/widget";

/** A refusal, with the line for `package.json` that would allow the request. */
class NotPermitted extends Error {
  override readonly name = "NotPermitted";
  readonly code = "forbidden";

  constructor(act: string, line: string) {
    super(`this widget may not ${act}: ${line}`);
  }
}

/** The line for a widget's `package.json` that allows something. */
export const manifestHint = (needs: Needs): string =>
  `add "needs": ${JSON.stringify(needs)} to "mantel" in its package.json`;

/** Documents, each with the device that it is about. A picture needs the same as the state of its device. */
const DOCUMENTS: readonly (readonly [NonNullable<Needs["reads"]>[number] | "image", RegExp])[] = [
  ["image", /^\/smart-home\/devices\/([^/]+)\/image$/],
  ["calendar", /^\/calendar\/events$/],
  ["history", /^\/smart-home\/devices\/([^/]+)\/history$/],
  ["photos", /^\/photos(?:\/[^/]+)?$/],
];

/** The parts of the home that a widget may read and control, as declared in its manifest. */
export class WidgetPermissions {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  get channels(): NonNullable<Needs["channels"]> {
    return this.#needs.channels ?? [];
  }

  /** The devices that the widget may see. */
  seen(devices: readonly Device[]): readonly Device[] {
    return this.#has("read") ? devices.filter((device) => this.#fits(device)) : [];
  }

  /** @throws NotPermitted */
  requireCommand(id: string, device: Device | undefined): void {
    if (!this.#has("command")) {
      throw new NotPermitted("command devices", manifestHint({ devices: ["read", "command"] }));
    }
    if (device && this.#fits(device)) return;
    throw new NotPermitted(`command ${id}`, this.#limits());
  }

  /**
   * Checks that the widget may command every device of the kind in the room or group, where `""` is the whole home.
   * @throws NotPermitted
   */
  requireRoom(room: RoomOrGroup, kind: DeviceKind): void {
    if (!this.#has("command")) {
      throw new NotPermitted("command rooms", manifestHint({ devices: ["read", "command"] }));
    }
    const { kinds, rooms } = this.#needs;
    const isInRooms = !rooms || (typeof room === "string" && rooms.includes(room));
    if ((!kinds || kinds.includes(kind)) && isInRooms) return;
    const name = typeof room === "string" ? room : room.group;
    throw new NotPermitted(`command every ${kind} of "${name}"`, this.#limits());
  }

  /** @throws NotPermitted */
  requireScenes(): void {
    if (this.#needs.scenes === true) return;
    throw new NotPermitted("activate scenes", manifestHint({ scenes: true }));
  }

  /** @throws NotPermitted */
  requireService(key: string): void {
    if (this.#needs.services?.includes(key)) return;
    throw new NotPermitted(`call the service ${key}`, manifestHint({ services: [key] }));
  }

  /**
   * The API path of a document that the widget may read.
   * @throws NotPermitted
   */
  documentAt(path: string, deviceOf: (id: string) => Device | undefined): string {
    const { pathname, search } = new URL(path, "http://mantel");
    // A path that the URL parser changes could point to another place.
    const isPlain = path.startsWith(pathname) && !/%2f|%5c|%2e/i.test(pathname);
    for (const [name, pattern] of isPlain ? DOCUMENTS : []) {
      const [found, id] = pattern.exec(pathname) ?? [];
      if (found === undefined) continue;
      if (name !== "image" && !this.#needs.reads?.includes(name)) {
        throw new NotPermitted(`read ${pathname}`, manifestHint({ reads: [name] }));
      }
      if (id !== undefined) this.requireSeen(decodeURIComponent(id), deviceOf);
      return pathname + search;
    }
    throw new NotPermitted(
      `read ${pathname}`,
      "widgets in frames read the calendar, histories and photos",
    );
  }

  /** @throws NotPermitted */
  requireSeen(id: string, deviceOf: (id: string) => Device | undefined): void {
    const device = deviceOf(id);
    if (device && this.seen([device]).length > 0) return;
    if (this.#has("read")) throw new NotPermitted(`read ${id}`, this.#limits());
    throw new NotPermitted("read devices", manifestHint({ devices: ["read"] }));
  }

  #has(use: "read" | "command"): boolean {
    return this.#needs.devices?.includes(use) === true;
  }

  #fits({ kind, room }: Device): boolean {
    const { kinds, rooms } = this.#needs;
    return (!kinds || kinds.includes(kind)) && (!rooms || (room !== null && rooms.includes(room)));
  }

  #limits(): string {
    const { kinds, rooms } = this.#needs;
    const named = [...(kinds ?? []), ...(rooms ?? [])];
    if (named.length === 0) return "no such device";
    return `"needs" in its package.json has only ${named.join(", ")}`;
  }
}
