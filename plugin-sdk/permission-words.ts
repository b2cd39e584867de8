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
export const PERMISSION_TEXTS = {
  server: "run code of its own on this machine",
  hostsAll: "connect to every host",
  hostsBelow: "connect to every host below {name}",
  hostsOption: "connect to the hosts in its option {name}",
  hostsService: "connect to the hosts that the service {name} names",
  hostsLocal: "connect to every device of the home network",
  hostsSocket: "connect to the program behind the socket {name}",
  hostsHost: "connect to {name}",
  openNetworkSetup: "use an open network, which leads to every host, while it is set up or tested",
  openNetwork: "use an open network, which leads to every host",
  listen: "listen on the network",
  foldersPath: "read {name}",
  foldersOwn: "read and write the folder {name} of the home's data",
  childProcesses: "start programs, which may do all that the user may who runs Mantel",
  workerThreads: "start threads, which may do all that the user may who runs Mantel",
  nativeAddons: "load native code, which may do all that the user may who runs Mantel",
  sqlite: "use SQLite, which may open any file of the user who runs Mantel",
  readsAll: "read every device and scene of the home",
  readsCalendar: "read the calendars",
  readsLocation: "know where the home is",
  readsScenes: "read every scene",
  readsKind: "read every device of the kind {name}",
  readsScene: "read the scene {name}",
  readsDevice: "read the device {name}",
  controlsAll: "control every device and activate every scene of the home",
  controlsScenes: "activate every scene",
  controlsKind: "control every device of the kind {name}",
  controlsScene: "activate the scene {name}",
  controlsDevice: "control the device {name}",
  provides: "provide {name} to the home",
  pathsBelow: "answer requests to {name} of the API, and below, with its own code",
  paths: "answer requests to {name} of the API",
  sources: "run the code in the folder {name} of the home's data",
  usesChannel: "read the channel {name}",
  usesService: "use the service {name}",
  widgetSees: "show its widget {name}",
  widgetCommands: "let its widget command {name}",
  widgetReads: "let its widget read this: {name}",
  widgetCalls: "let its widget call the service {name}",
  memoryMiB: "use up to {name} MiB of memory",
  storageMiB: "keep up to {name} MiB on the disk",
  cpuPercent: "use up to {name} % of a processor",
};
export type PermissionTexts = Readonly<typeof PERMISSION_TEXTS>;

/** A text for every permission, from the texts of a language. */
export function permissionWordsIn(texts: PermissionTexts): PermissionWords {
  const say = (key: keyof PermissionTexts, name: string) =>
    texts[key].replace("{name}", () => name);
  const saying = (key: keyof PermissionTexts) => (name: string) => say(key, name);
  const { server, listen, childProcesses, workerThreads, nativeAddons, sqlite } = texts;
  return {
    server,
    hosts: (host) => {
      const [kind, name] = kindOfHost(host);
      return say(`hosts${capital(kind)}`, name);
    },
    openNetwork: (when) => texts[when === "setup" ? "openNetworkSetup" : "openNetwork"],
    listen,
    folders: (folder) => say(isPath(folder) ? "foldersPath" : "foldersOwn", folder),
    childProcesses,
    workerThreads,
    nativeAddons,
    sqlite,
    homeReads: (entry) => {
      const [kind, name] = kindOfHomeEntry(entry);
      return say(`reads${capital(kind)}`, name);
    },
    homeControls: (entry) => {
      const [kind, name] = kindOfHomeEntry(entry);
      const isReadOnly = kind === "calendar" || kind === "location";
      return say(`controls${capital(isReadOnly ? "device" : kind)}`, name);
    },
    provides: saying("provides"),
    paths: (path) =>
      path.endsWith("/*") ? say("pathsBelow", path.slice(0, -2)) : say("paths", path),
    sources: saying("sources"),
    uses: (name) => say(name.includes("/") ? "usesChannel" : "usesService", name),
    widgetSees: saying("widgetSees"),
    widgetCommands: saying("widgetCommands"),
    widgetReads: saying("widgetReads"),
    widgetCalls: saying("widgetCalls"),
    memoryMiB: saying("memoryMiB"),
    storageMiB: saying("storageMiB"),
    cpuPercent: saying("cpuPercent"),
  };
}

function capital<S extends string>(word: S): Capitalize<S> {
  return (word.charAt(0).toUpperCase() + word.slice(1)) as Capitalize<S>;
}

/** The English texts of the permissions. */
export const permissionWords: PermissionWords = permissionWordsIn(PERMISSION_TEXTS);

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
