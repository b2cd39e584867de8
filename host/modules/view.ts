import type { Limits, Manifest } from "@mantel/plugin-sdk/manifest";
import { MODULE_STATES, type ModuleState } from "@mantel/plugin-sdk/module-state";
import { LEFTOVER_KINDS } from "@mantel/plugin-sdk/protocol";
import { Nullable } from "@mantel/plugin-sdk/schema";
import { TRIALS } from "@mantel/plugin-sdk/trial";
import { Type, type Static } from "typebox";
import type { Config } from "../config/schema.ts";

const Instant = Type.String({ format: "date-time" });

/** Why a module is not well: a sentence for people, and the place in its source when it is known. */
export const ModuleFault = Type.Object({
  message: Type.String(),
  file: Type.Optional(Type.String()),
  line: Type.Optional(Type.Integer()),
  column: Type.Optional(Type.Integer()),
  frame: Type.Optional(Type.String()),
});
export type ModuleFault = Static<typeof ModuleFault>;

/** Something the old code had opened and not closed when all its releases had run: a leak, in short. */
export const LeftOpen = Type.Object({
  kind: Type.Enum([...LEFTOVER_KINDS]),
  count: Type.Integer(),
  /** The path of a file. */
  path: Type.Optional(Type.String()),
  /** Where it was opened in the author's source; absent when that lies in a package, or is not known. */
  file: Type.Optional(Type.String()),
  line: Type.Optional(Type.Integer()),
  column: Type.Optional(Type.Integer()),
  frame: Type.Optional(Type.String()),
});
export type LeftOpen = Static<typeof LeftOpen>;

/** What only a reload that changed processes has. Memory is what each process holds for itself. */
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
  /** Only where processes changed hands. */
  stateHandedOver: Type.Optional(Type.Boolean()),
  ...Handed,
  error: Type.Optional(ModuleFault),
});
export type LastReload = Static<typeof LastReload>;

/** A module as `GET /modules` shows it. Figures of a module without a process are null. */
export const ModuleView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  version: Type.String(),
  kinds: Type.Array(Type.Enum(["bridge", "service", "widget"])),
  state: Type.Enum([...MODULE_STATES]),
  stateSince: Instant,
  generation: Type.Integer(),
  permissions: Type.Object({
    hosts: Type.Array(Type.String()),
    listen: Type.Boolean(),
    folders: Type.Array(Type.String()),
    childProcesses: Type.Boolean(),
    workerThreads: Type.Boolean(),
    nativeAddons: Type.Boolean(),
    provides: Type.Array(Type.String()),
    uses: Type.Array(Type.String()),
    /** What is asked for that the version before did not ask for, such as `hosts: example.org`. */
    added: Type.Array(Type.String()),
  }),
  resources: Type.Object({
    cpuPercent: Nullable(Type.Number()),
    memoryBytes: Nullable(Type.Number()),
    heapBytes: Nullable(Type.Number()),
    loopLagP99Ms: Nullable(Type.Number()),
  }),
  limits: Type.Object({
    memoryMiB: Type.Integer(),
    cpuPercent: Type.Integer(),
    startMs: Type.Integer(),
    quiesceMs: Type.Integer(),
    callMs: Type.Integer(),
    queueLength: Type.Integer(),
  }),
  restarts: Type.Integer(),
  /** The code that ran before what runs, which `POST /modules/:id/rollback` goes back to. */
  earlier: Nullable(Type.Object({ version: Type.String(), until: Instant })),
  /** Since when it runs earlier code because somebody went back; the code on the disk waits meanwhile. */
  heldSince: Nullable(Instant),
  lastReload: Nullable(LastReload),
  /** What takes long now, such as an installation, for people. */
  progress: Nullable(Type.String()),
  error: Nullable(ModuleFault),
  /** The widget's code as browsers load it, for a module that has one. */
  widget: Nullable(Type.Object({ hash: Type.String(), url: Type.String() })),
  /** What `POST /modules/:id/test` and `/setup` can be asked of, as far as its code was ever loaded. */
  trials: Type.Array(Type.Enum([...TRIALS])),
});
export type ModuleView = Static<typeof ModuleView>;

/** What `POST /modules/:id/reload` and `/rollback` say when they did not fail. */
export const ReloadReceipt = Type.Object({
  result: Type.Enum(["reloaded", "unchanged", "rolled_back"]),
  from: Type.Integer(),
  to: Type.Integer(),
  durationMs: Type.Number(),
  downtimeMs: Type.Number(),
  drained: Type.Integer(),
  stateHandedOver: Type.Boolean(),
  ...Handed,
});
export type ReloadReceipt = Static<typeof ReloadReceipt>;

/** How many modules work, and how many should and do not. */
export function countStates(views: readonly ModuleView[]): { active: number; failed: number } {
  const count = (...states: ModuleState[]) =>
    views.filter(({ state }) => states.includes(state)).length;
  return {
    active: count("active", "degraded", "reloading"),
    failed: count("failed", "quarantined"),
  };
}

/** The limits of a module: those of the config, then of the manifest, then the usual ones. */
export function limitsOf(
  manifest: Pick<Manifest, "limits">,
  configured: Limits = {},
): ModuleView["limits"] {
  return {
    memoryMiB: 64,
    cpuPercent: 80,
    startMs: 10_000,
    quiesceMs: 2_000,
    callMs: 10_000,
    queueLength: 100,
    ...manifest.limits,
    ...configured,
  };
}

/** The limits of a plugin as the config has them now. */
export function limitsIn(
  config: Config,
  { id, manifest }: { readonly id: string; readonly manifest: Manifest },
): ModuleView["limits"] {
  return limitsOf(manifest, config.modules[id]?.limits);
}

/** What a manifest asks for, with what it leaves open filled in: nothing. */
export function permissionsOf({
  permissions,
  provides,
  uses,
}: Manifest): Omit<ModuleView["permissions"], "added"> {
  return {
    hosts: [],
    listen: false,
    folders: [],
    childProcesses: false,
    workerThreads: false,
    nativeAddons: false,
    ...permissions,
    provides: provides ?? [],
    uses: uses ?? [],
  };
}
