import { MantelError } from "./errors.ts";
import { includesPart, kindEntryOf, kindOfHomeEntry } from "./home-permissions.ts";
import type { DeviceSelector } from "./home.ts";
import type { Manifest } from "./manifest.ts";
import { normalServiceKey, type PublicationName, PUBLICATIONS } from "./service.ts";

/** A plugin with what it declares. */
export interface Declared {
  readonly id: string;
  readonly manifest: Manifest;
}

/** The error for a call that the manifest does not declare; `key` is the line to add. */
export function undeclared(id: string, what: string, key: string): MantelError {
  return new MantelError(
    "invalid",
    `${id} may not ${what}: its manifest does not declare it; add ${key} to "mantel" in its package.json`,
  );
}

/** @throws MantelError `invalid`, with the key to add, for a plugin without `bridge` in its manifest */
export function requireBridge({ id, manifest }: Declared): void {
  if (manifest.bridge) return;
  throw undeclared(id, "publish devices or scenes", '"bridge" with its "kind"');
}

/** @throws MantelError `invalid`, with the line to add, unless `provides` lists the published value */
export function requirePublication({ id, manifest }: Declared, name: string): PublicationName {
  if (isPublication(name) && manifest.provides?.includes(name)) return name;
  throw undeclared(id, `publish ${name}`, `"provides": ["${name}"]`);
}

/** @throws MantelError `invalid`, with the line to add, unless `provides` lists the service */
export function requireProvided({ id, manifest }: Declared, key: string): void {
  if (manifest.provides?.some((provided) => normalServiceKey(provided) === key)) return;
  throw undeclared(id, `provide ${key}`, `"provides": ["${key}"]`);
}

/** True for the name of a published value. */
export function isPublication(name: string): name is PublicationName {
  return PUBLICATIONS.some((each) => each === name);
}

/** @throws MantelError `invalid`, with the line to add, for a plugin that may not connect to the local network */
export function requireSearch({ id, manifest }: Declared): void {
  const { hosts = [] } = manifest.permissions ?? {};
  if (hosts.some((host) => host === "network:local" || host === "*")) return;
  throw undeclared(id, "search the network", '"permissions": {"hosts": ["network:local"]}');
}

/** @throws MantelError `invalid` for a plugin that is not of the kind `automation` */
export function requireAutomation({ id, manifest }: Declared): void {
  if (manifest.kinds.includes("automation")) return;
  const sentence = `${id} may not act for an automation; add "automation" to "mantel.kinds" in its package.json`;
  throw new MantelError("invalid", sentence);
}

/** The entries of `permissions.home` in a manifest. */
export class HomeRights {
  readonly #id: string;
  readonly #read: readonly string[];
  readonly #control: readonly string[];

  constructor({ id, manifest }: Declared) {
    const { read = [], control = [] } = manifest.permissions?.home ?? {};
    this.#id = id;
    this.#read = read;
    this.#control = control;
  }

  mayRead(id: string): boolean {
    return includesPart(this.#read, id);
  }

  /** @throws MantelError `invalid`, with the line to add, if the manifest lists no device of the selector */
  requireReading(selector: DeviceSelector): void {
    const { id, kind } = partOf(selector);
    const isListed =
      id === undefined
        ? this.#read.some((entry) => isDeviceEntry(entry) && isOfKind(entry, kind))
        : this.mayRead(id);
    const line = id ?? (kind === undefined ? "*" : `${kind}:*`);
    if (!isListed) throw this.#undeclared(`read ${line}`, "read", line);
  }

  requireReadingScenes(): void {
    const isListed = this.#read.some((entry) =>
      ["all", "scenes", "scene"].includes(kindOfHomeEntry(entry)[0]),
    );
    if (!isListed) throw this.#undeclared("read scenes", "read", "scene:*");
  }

  requireNamed(entry: "calendar" | "location", what: string): void {
    if (!this.#read.includes(entry)) throw this.#undeclared(what, "read", entry);
  }

  requireControl(id: string): void {
    if (!includesPart(this.#control, id)) throw this.#undeclared(`control ${id}`, "control", id);
  }

  #undeclared(what: string, list: "read" | "control", entry: string): MantelError {
    const line = `"home": {"${list}": ["${entry}"]}`;
    const sentence = `${this.#id} may not ${what}: its manifest does not declare it; add ${line} to "mantel.permissions" in its package.json`;
    return new MantelError("invalid", sentence);
  }
}

/** The device or the kind that a selector names. */
function partOf(selector: DeviceSelector): { id?: string | undefined; kind?: string | undefined } {
  if (typeof selector !== "string") return selector;
  if (selector === "*") return {};
  return selector.endsWith(":*") ? { kind: selector.slice(0, -2) } : { id: selector };
}

/** True for an entry of devices: not of scenes, and not `calendar` or `location`. */
function isDeviceEntry(entry: string): boolean {
  const [kind] = kindOfHomeEntry(entry);
  return kind === "all" || kind === "kind" || kind === "device";
}

/** True if an entry is for devices of a kind, or for some of them. */
function isOfKind(entry: string, kind: string | undefined): boolean {
  if (kind === undefined || entry === "*") return true;
  return entry === `${kind}:*` || kindEntryOf(entry) === `${kind}:*`;
}
