import { MODULE_STATES } from "@mantel/plugin-sdk/module-state";
import { Needs } from "@mantel/plugin-sdk/needs";
import { OPEN_NETWORK } from "@mantel/plugin-sdk/permissions";
import { LEFTOVER_KINDS, type LogLevel } from "@mantel/plugin-sdk/protocol";
import { Nullable } from "@mantel/plugin-sdk/schema";
import { TRIALS } from "@mantel/plugin-sdk/trial";
import { Type, type Static } from "typebox";

const Instant = Type.String({ format: "date-time" });

/** The reason why a module is not well: a user-facing sentence, and the location in its source if known. */
export const ModuleFault = Type.Object({
  message: Type.String(),
  file: Type.Optional(Type.String()),
  line: Type.Optional(Type.Integer()),
  column: Type.Optional(Type.Integer()),
  frame: Type.Optional(Type.String()),
});
export type ModuleFault = Static<typeof ModuleFault>;

/** A resource that the old code opened and had not closed after all its releases ran: a leak. */
export const LeftOpen = Type.Object({
  kind: Type.Enum([...LEFTOVER_KINDS]),
  count: Type.Integer(),
  /** The path of a file. */
  path: Type.Optional(Type.String()),
  /** The location in the author's source where it was opened; absent if that is in a package, or unknown. */
  file: Type.Optional(Type.String()),
  line: Type.Optional(Type.Integer()),
  column: Type.Optional(Type.Integer()),
  frame: Type.Optional(Type.String()),
});
export type LeftOpen = Static<typeof LeftOpen>;

/** Fields of a reload that replaced the process. Memory is the private memory of each process. */
const Handed = {
  memory: Type.Optional(Type.Object({ beforeBytes: Type.Integer(), afterBytes: Type.Integer() })),
  leftOpen: Type.Optional(Type.Array(LeftOpen)),
};

export const LastReload = Type.Object({
  at: Instant,
  trigger: Type.Enum(["file", "request", "config", "crash", "sdk", "rollback"]),
  result: Type.Enum(["reloaded", "unchanged", "rolled_back", "failed"]),
  durationMs: Type.Number(),
  downtimeMs: Type.Number(),
  /** Present only if the process was replaced. */
  stateHandedOver: Type.Optional(Type.Boolean()),
  ...Handed,
  error: Type.Optional(ModuleFault),
});
export type LastReload = Static<typeof LastReload>;

/** The widget of a module: its code as browsers load it, where it runs, and the parts of the home it uses. */
export const WidgetView = Type.Object({
  hash: Type.String(),
  url: Type.String(),
  /**
   * `page` for widgets that ship with Mantel and those that the user trusts; all others run in a sandboxed frame.
   */
  runsIn: Type.Enum(["page", "frame"]),
  /** True if it ships with Mantel. */
  shipped: Type.Boolean(),
  needs: Needs,
});
export type WidgetView = Static<typeof WidgetView>;

/** The confinement of a module's process, as `GET /modules` shows it. */
export const Confinement = Type.Object({
  /**
   * `kernel`: namespaces, mounts and a system call filter of the kernel. `permission-model`: Node's own
   * checks inside the process, which determined code can bypass. `none`: neither.
   */
  level: Type.Enum(["kernel", "permission-model", "none"]),
  /** `none`: no network. `proxied`: declared hosts, through the host. `open`: the machine's network. */
  network: Type.Enum(["none", "proxied", "open"]),
  /** The reason for a level below `kernel`, or for an open network; null otherwise. */
  reason: Nullable(Type.String()),
});
export type Confinement = Static<typeof Confinement>;

/**
 * Permissions that were not used since then, among those whose use the host can see; the plugin may not need them.
 * Absent before its code ran.
 */
export const UnusedPermissions = Type.Object({
  since: Instant,
  words: Type.Array(Type.String()),
  permissions: Type.Array(Type.Object({ name: Type.String(), value: Nullable(Type.String()) })),
});

/** The name in other languages, by language (`de`); absent without a translation. */
export const Titles = Type.Record(Type.String(), Type.String());

/** A module as `GET /modules` shows it. Figures of a module without a process are null. */
export const ModuleView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  titles: Type.Optional(Titles),
  version: Type.String(),
  /** Options in which users list what they add to the home, by what that is, such as `calendar`. */
  adds: Type.Record(Type.String(), Type.String()),
  kinds: Type.Array(Type.Enum(["bridge", "service", "widget", "automation"])),
  state: Type.Enum([...MODULE_STATES]),
  stateSince: Instant,
  generation: Type.Integer(),
  permissions: Type.Object({
    hosts: Type.Array(Type.String()),
    openNetwork: Nullable(Type.Enum([...OPEN_NETWORK])),
    listen: Type.Boolean(),
    folders: Type.Array(Type.String()),
    childProcesses: Type.Boolean(),
    workerThreads: Type.Boolean(),
    nativeAddons: Type.Boolean(),
    sqlite: Type.Boolean(),
    home: Type.Object({ read: Type.Array(Type.String()), control: Type.Array(Type.String()) }),
    provides: Type.Array(Type.String()),
    uses: Type.Array(Type.String()),
    /** Paths of the API that it serves, such as `/tides`. */
    paths: Type.Array(Type.String()),
    /** Permissions that the previous version did not ask for, such as `hosts: example.org`. */
    added: Type.Array(Type.String()),
  }),
  confinement: Confinement,
  resources: Type.Object({
    cpuPercent: Nullable(Type.Number()),
    memoryBytes: Nullable(Type.Number()),
    heapBytes: Nullable(Type.Number()),
    loopLagP99Ms: Nullable(Type.Number()),
    /** Disk space: its storage, and the folders of the home's data that its manifest names. */
    storageBytes: Nullable(Type.Number()),
  }),
  limits: Type.Object({
    memoryMiB: Type.Integer(),
    storageMiB: Type.Integer(),
    cpuPercent: Type.Integer(),
    startMs: Type.Integer(),
    quiesceMs: Type.Integer(),
    callMs: Type.Integer(),
    queueLength: Type.Integer(),
  }),
  /** The time since when it has no process, because nothing needs it; the next call starts one. */
  restingSince: Nullable(Instant),
  restarts: Type.Integer(),
  /** The previous code, to which `POST /modules/:id/rollback` returns. */
  earlier: Nullable(Type.Object({ version: Type.String(), until: Instant })),
  /** The time since when it runs earlier code because someone rolled back; the code on disk waits meanwhile. */
  heldSince: Nullable(Instant),
  lastReload: Nullable(LastReload),
  /** Present if the plugin on disk asks for more permissions, and waits for `POST /modules/:id/consent`. */
  consent: Nullable(
    Type.Object({
      /** The missing permissions, as phrases that follow "It may …". */
      needed: Type.Array(Type.String()),
      /** The same, for clients that speak other languages. A flag has no value. */
      permissions: Type.Array(Type.Object({ name: Type.String(), value: Nullable(Type.String()) })),
    }),
  ),
  unused: Type.Optional(UnusedPermissions),
  /** A user-facing sentence about a slow step, such as an installation. */
  progress: Nullable(Type.String()),
  error: Nullable(ModuleFault),
  /** The widget's code as browsers load it, for a module that has one. */
  widget: Nullable(WidgetView),
  /** The trials available through `POST /modules/:id/test` and `/setup`, known once its code was loaded. */
  trials: Type.Array(Type.Enum([...TRIALS])),
});
export type ModuleView = Static<typeof ModuleView>;

/** The result of `POST /modules/:id/reload` and `/rollback` if they did not fail. */
export const ReloadResult = Type.Object({
  result: Type.Enum(["reloaded", "unchanged", "rolled_back"]),
  from: Type.Integer(),
  to: Type.Integer(),
  durationMs: Type.Number(),
  downtimeMs: Type.Number(),
  drained: Type.Integer(),
  stateHandedOver: Type.Boolean(),
  ...Handed,
});
export type ReloadResult = Static<typeof ReloadResult>;

/** One record of a module's log. `at` is ISO 8601. */
export interface LogEntry {
  readonly at: string;
  readonly level: LogLevel;
  readonly sentence: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}
