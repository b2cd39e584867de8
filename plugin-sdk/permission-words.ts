import { kindOfHomeEntry } from "./home-permissions.ts";
import type { Limits } from "./manifest.ts";
import type { Permissions } from "./permissions.ts";

/** True for limits that need consent because a high value burdens the machine; the others only make callers wait. */
export const WEIGHING_LIMITS = {
  memoryMiB: true,
  storageMiB: true,
  cpuPercent: true,
  startMs: false,
  quiesceMs: false,
  callMs: false,
  queueLength: false,
} as const satisfies Record<keyof Limits, boolean>;
type Weighing = {
  [
    K in keyof typeof WEIGHING_LIMITS as (typeof WEIGHING_LIMITS)[K] extends true ? K : never
  ]: number;
};

/** Everything that a manifest can request and that a user must consent to. */
type Askable = Required<Omit<Permissions, "home">> &
  Weighing & {
    homeReads: string[];
    homeControls: string[];
    /** A server entry. A plugin with only a widget runs no code on this machine. */
    server: boolean;
    provides: string[];
    uses: string[];
    paths: string[];
    sources: string;
    /** The single `needs` of its widget: `light devices in Kitchen`, `the channel calendar`, `scenes`. */
    widgetSees: string[];
    widgetCommands: string[];
    widgetReads: string[];
    widgetCalls: string[];
  };

/** A fixed text for a flag; a function for the values of a list and for numbers, given as text. */
type Words<V> = V extends boolean ? string : (value: string) => string;

/** A text for every permission, to follow "It may …". A missing one is a compile error. */
export type PermissionWords = { readonly [K in keyof Askable]: Words<Askable[K]> };
export type PermissionName = keyof PermissionWords;

/** The English texts. Each quotes its value exactly, so that two different permissions never have the same text. */
export const permissionWords: PermissionWords = {
  server: "run code of its own on this machine",
  hosts: (host) => {
    const [kind, name] = kindOfHost(host);
    switch (kind) {
      case "all":
        return "connect to every host";
      case "below":
        return `connect to every host below ${name}`;
      case "option":
        return `connect to the hosts in its option ${name}`;
      case "service":
        return `connect to the hosts that the service ${name} names`;
      case "local":
        return "connect to every device of the home network";
      case "socket":
        return `connect to the program behind the socket ${name}`;
      case "host":
        return `connect to ${name}`;
    }
  },
  openNetwork: (when) =>
    when === "setup"
      ? "use an open network, which leads to every host, while it is set up or tested"
      : "use an open network, which leads to every host",
  listen: "listen on the network",
  folders: (folder) =>
    isPath(folder) ? `read ${folder}` : `read and write the folder ${folder} of the home's data`,
  childProcesses: "start programs, which may do all that the user may who runs Mantel",
  workerThreads: "start threads, which may do all that the user may who runs Mantel",
  nativeAddons: "load native code, which may do all that the user may who runs Mantel",
  sqlite: "use SQLite, which may open any file of the user who runs Mantel",
  homeReads: (entry) => {
    const [kind, name] = kindOfHomeEntry(entry);
    switch (kind) {
      case "all":
        return "read every device and scene of the home";
      case "calendar":
        return "read the calendars";
      case "location":
        return "know where the home is";
      case "scenes":
        return "read every scene";
      case "kind":
        return `read every device of the kind ${name}`;
      case "scene":
        return `read the scene ${name}`;
      case "device":
        return `read the device ${name}`;
    }
  },
  homeControls: (entry) => {
    const [kind, name] = kindOfHomeEntry(entry);
    if (kind === "all") return "control every device and activate every scene of the home";
    if (kind === "scenes") return "activate every scene";
    if (kind === "kind") return `control every device of the kind ${name}`;
    return kind === "scene" ? `activate the scene ${name}` : `control the device ${name}`;
  },
  provides: (name) => `provide ${name} to the home`,
  paths: (path) =>
    path.endsWith("/*")
      ? `answer requests to ${path.slice(0, -2)} of the API, and below, with its own code`
      : `answer requests to ${path} of the API`,
  sources: (folder) => `run the code in the folder ${folder} of the home's data`,
  uses: (name) => (name.includes("/") ? `read the channel ${name}` : `use the service ${name}`),
  widgetSees: (what) => `show its widget ${what}`,
  widgetCommands: (what) => `let its widget command ${what}`,
  widgetReads: (name) => `let its widget read the ${name}`,
  widgetCalls: (name) => `let its widget call the service ${name}`,
  memoryMiB: (size) => `use up to ${size} MiB of memory`,
  storageMiB: (size) => `keep up to ${size} MiB on the disk`,
  cpuPercent: (share) => `use up to ${share} % of a processor`,
};

/** The kind of an entry in `permissions.hosts`, and the name in it. */
export function kindOfHost(
  host: string,
): readonly [
  kind: "all" | "below" | "option" | "service" | "local" | "socket" | "host",
  name: string,
] {
  if (host === "*") return ["all", host];
  if (host === "network:local") return ["local", host];
  if (host.startsWith("*.")) return ["below", host.slice(2)];
  if (host.startsWith("config:")) return ["option", host.slice("config:".length)];
  if (host.startsWith("service:")) return ["service", host.slice("service:".length)];
  return isPath(host) ? ["socket", host] : ["host", host];
}

/** True for a path on this machine, false for a name. */
export const isPath = (entry: string): boolean => entry.startsWith("/");
