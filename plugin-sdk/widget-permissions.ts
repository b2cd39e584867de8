import type { Device, DeviceKind } from "./device.ts";
import type { Needs } from "./needs.ts";
import { RESERVED_PATHS } from "./reserved-paths.ts";

/** A refusal, with the line for `package.json` that would allow the request. */
class NotPermitted extends Error {
  override readonly name = "NotPermitted";
  readonly code = "forbidden";

  constructor(act: string, line: string) {
    super(`this widget may not ${act}: ${line}`);
  }
}

/** The line for a widget's `package.json` that allows something. */
const manifestHint = (needs: Needs): string =>
  `add "needs": ${JSON.stringify(needs)} to "mantel" in its package.json`;

/** The sentence for a widget that reads devices or a channel without the need for it. */
export const noAccess = (what: string, needs: Needs): string =>
  `this widget has no access to ${what}: ${manifestHint(needs)}`;

/** Documents of the host, each with the device that it is about. A picture needs the same as the state of its device. */
const DOCUMENTS: readonly (readonly ["image" | "calendar" | "history", RegExp])[] = [
  ["image", /^\/smart-home\/devices\/([^/]+)\/image$/],
  ["calendar", /^\/calendar\/events$/],
  ["history", /^\/smart-home\/devices\/([^/]+)\/history$/],
];

/** The first part of a path below `/plugins/<id>` at which a plugin can have routes. */
const isRoutePart = (part = ""): boolean =>
  /^[a-z0-9][a-z0-9._-]*$/.test(part) && !RESERVED_PATHS.includes(part);

/**
 * The path at or below which a plugin has this route: `/tides` for `/tides/today`, and `/plugins/tides` for
 * `/plugins/tides/today`. `undefined` for a path below `/plugins` that the host serves itself.
 */
function routesPathOf(pathname: string): string | undefined {
  const [, first = "", id, part] = pathname.split("/");
  if (first !== "plugins") return `/${first}`;
  return isRoutePart(part) ? `/plugins/${id}` : undefined;
}

/** The parts of the home that a widget may read and control, as declared in its manifest. */
export class WidgetPermissions {
  readonly #needs: Needs;
  readonly #ownRoutes: string;

  /** @param module the id of the widget's module, whose routes the widget reads without a declaration */
  constructor(needs: Needs, module: string) {
    this.#needs = needs;
    this.#ownRoutes = `/plugins/${module}`;
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
  requireRoom(room: string | { readonly group: string }, kind: DeviceKind): void {
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
    if (!isPlain) throw new NotPermitted(`read ${pathname}`, "the path is not plain");
    for (const [name, pattern] of DOCUMENTS) {
      const [found, id] = pattern.exec(pathname) ?? [];
      if (found === undefined) continue;
      if (name !== "image" && !this.#needs.reads?.includes(name)) {
        throw new NotPermitted(`read ${pathname}`, manifestHint({ reads: [name] }));
      }
      if (id !== undefined) this.requireSeen(decodeURIComponent(id), deviceOf);
      return pathname + search;
    }
    this.#requireRoute(pathname);
    return pathname + search;
  }

  /** Requires a route of the own plugin or of one that the manifest names. @throws NotPermitted */
  #requireRoute(pathname: string): void {
    const path = routesPathOf(pathname);
    if (path === this.#ownRoutes) return;
    if (path === undefined)
      throw new NotPermitted(`read ${pathname}`, "it is not a plugin's route");
    if (this.#needs.reads?.includes(path)) return;
    throw new NotPermitted(
      `read ${pathname}`,
      `if it is a route of another plugin, ${manifestHint({ reads: [path] })}`,
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
