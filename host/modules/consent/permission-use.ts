import { readFile } from "node:fs/promises";
import { Hosts } from "@mantel/plugin-sdk/hosts";
import type { PermissionName } from "@mantel/plugin-sdk/permission-words";
import type { HostApi } from "@mantel/plugin-sdk/protocol";
import type { Handlers } from "@mantel/plugin-sdk/rpc";
import { normalServiceKey } from "@mantel/plugin-sdk/service";
import type { Bundle } from "../build/compile.ts";
import type { PluginPackage } from "../manifest/manifest.ts";
import { networkOf } from "../process/network/network-of.ts";
import { type RequestedPermission, requestedPermissions } from "./requested-permissions.ts";

/** The files of running code, and the plugin they belong to. */
interface RunningCode extends Pick<Bundle, "bundle" | "vendor"> {
  readonly plugin: PluginPackage;
}

/** Permissions that code cannot use without these words in it. */
const WORDS: Partial<Readonly<Record<PermissionName, RegExp>>> = {
  childProcesses: /child_process/,
  workerThreads: /worker_threads/,
  sqlite: /node:sqlite/,
  listen: /\.listen\b|createSocket|\.bind\(/,
  openNetwork: /dgram|child_process|worker_threads/,
};

/** The calls to the host that use a permission; all values of it count as used. */
const CALLS: Partial<Readonly<Record<keyof HostApi, PermissionName>>> = {
  listHomeDevices: "homeReads",
  getHomeDevice: "homeReads",
  followHome: "homeReads",
  listHomeEvents: "homeReads",
  listHomeScenes: "homeReads",
  listHomeRooms: "homeReads",
  getCoordinates: "homeReads",
  getSun: "homeReads",
  commandHome: "homeControls",
  activateHomeScene: "homeControls",
};

/**
 * The permissions that a module has and did not use since it started, for as many of them as the host can see:
 * connections through its proxy, services, channels, the home, and what needs a certain word in the code.
 */
export class PermissionUse {
  readonly #changed: (unused: readonly RequestedPermission[]) => void;
  #hosts: readonly (readonly [entry: string, hosts: Hosts])[] = [];
  #watched: readonly RequestedPermission[] = [];
  #unused = new Set<string>();
  /** Describes the manifest, whose use is known. */
  #known = "";

  /** `changed` gets the permissions that are not used yet. */
  constructor(changed: (unused: readonly RequestedPermission[]) => void) {
    this.#changed = changed;
  }

  /** Watches the permissions of code that runs from now on. What was used stays so until the manifest changes. */
  async follow({ plugin, ...code }: RunningCode): Promise<void> {
    const requested = requestedPermissions(plugin.manifest);
    const known = JSON.stringify(requested);
    if (known === this.#known) return;
    this.#known = known;
    this.#watched = watchable(plugin, requested);
    this.#unused = new Set(this.#watched.map(keyOf));
    const hosts = this.#watched.flatMap(({ name, value }) => (name === "hosts" && value) || []);
    this.#hosts = hosts.map((entry) => [entry, new Hosts([entry])]);
    const hasWords = this.#watched.some(({ name }) => name in WORDS);
    const text = hasWords ? await textOf(code) : "";
    for (const { name } of this.#watched) if (WORDS[name]?.test(text) === true) this.use(name);
    this.#tell();
  }

  /** Records the use of a permission, or of one of its values. */
  use(name: PermissionName, value?: string): void {
    const used = this.#watched.filter(
      (each) => each.name === name && (value === undefined || each.value === value),
    );
    const before = this.#unused.size;
    for (const each of used) this.#unused.delete(keyOf(each));
    if (this.#unused.size < before) this.#tell();
  }

  /** Records a connection or a look-up. `origin` is the entry if the host came from an option or a service. */
  reached(host: string, origin: string | undefined): void {
    if (origin !== undefined) return this.use("hosts", origin);
    for (const [entry, hosts] of this.#hosts) if (hosts.allows(host)) this.use("hosts", entry);
  }

  /** The calls of a process, each recorded as a use of what it needs. */
  watching(api: Handlers<HostApi>): Handlers<HostApi> {
    const watched = Object.entries(api).map(([method, call]) => {
      const noted = (...given: never[]): unknown => {
        this.#note(method, given[0]);
        return (call as (...parts: never[]) => unknown)(...given);
      };
      return [method, noted];
    });
    return Object.fromEntries(watched) as Handlers<HostApi>;
  }

  /** `input` is untrusted: from another process. */
  #note(method: string, input: unknown): void {
    const { name = "", channel = "" } = (input ?? {}) as { name?: unknown; channel?: unknown };
    const home = Object.hasOwn(CALLS, method) ? CALLS[method as keyof HostApi] : undefined;
    if (home) return this.use(home);
    if (method === "callService") this.use("uses", normalServiceKey(String(name)));
    if (method === "followChannel") this.use("uses", String(channel));
    if (method.startsWith("discover")) this.use("hosts", "network:local");
  }

  #tell(): void {
    this.#changed(this.#watched.filter((each) => this.#unused.has(keyOf(each))));
  }
}

/** The permissions whose use the host can see. An open network has no proxy; addons may do anything. */
function watchable(
  { manifest: { permissions = {} } }: PluginPackage,
  requested: readonly RequestedPermission[],
): RequestedPermission[] {
  const isProxied = networkOf(permissions) === "proxied";
  return requested
    .filter(({ name }) => {
      if (name === "hosts") return isProxied;
      if (name in WORDS) return permissions.nativeAddons !== true;
      return ["uses", "homeReads", "homeControls"].includes(name);
    })
    .map(({ name, value }) =>
      name === "uses" && value !== undefined && !value.includes("/")
        ? { name, value: normalServiceKey(value) }
        : { name, ...(value === undefined ? {} : { value }) },
    );
}

async function textOf({ bundle, vendor }: Omit<RunningCode, "plugin">): Promise<string> {
  const files = [bundle, ...(vendor === undefined ? [] : [vendor])];
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8").catch(() => "")));
  return texts.join("\n");
}

function keyOf({ name, value = "" }: RequestedPermission): string {
  return `${name}: ${value}`;
}
