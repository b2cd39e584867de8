import { MODULE_STATES } from "@mantel/plugin-sdk/module-state";
import { Nullable } from "@mantel/plugin-sdk/schema";
import { Type, type Static } from "typebox";
import { ModuleFault, Titles, UnusedPermissions } from "./module.ts";

const Instant = Type.String({ format: "date-time" });

/** Permissions in words, as phrases that follow "It may …", and for clients that speak other languages. */
const PermissionList = Type.Object({
  words: Type.Array(Type.String()),
  requested: Type.Array(Type.Object({ name: Type.String(), value: Nullable(Type.String()) })),
});

/** An installed plugin as `GET /plugins` shows it. */
export const PluginView = Type.Object({
  id: Type.String(),
  /** The name of its package. */
  name: Type.String(),
  title: Type.String(),
  titles: Type.Optional(Titles),
  description: Type.String(),
  version: Type.String(),
  source: Type.String(),
  /** SHA-512 of its archive; null for a linked folder. */
  integrity: Nullable(Type.String()),
  pinned: Type.Boolean(),
  installedAt: Instant,
  /** The version before; null without one. */
  previous: Nullable(Type.String()),
  /** The newest version in the registry; null if that was not looked up, or the source has no versions. */
  latest: Nullable(Type.String()),
  /** True if `latest` is newer than the installed version, or differs from it. */
  outdated: Type.Boolean(),
  /** All that the installed version asks for. */
  permissions: PermissionList,
  /** Permissions that wait for `POST /modules/:id/consent`, while the previous version runs; null without any. */
  consent: Nullable(
    Type.Object({
      needed: Type.Array(Type.String()),
      permissions: Type.Array(Type.Object({ name: Type.String(), value: Nullable(Type.String()) })),
    }),
  ),
  unused: Type.Optional(UnusedPermissions),
  /** The version that runs; null if none does. */
  running: Nullable(Type.String()),
  state: Type.Enum([...MODULE_STATES, "missing"]),
  error: Nullable(ModuleFault),
  /** The last update that did not start, so that the version before it was put back. */
  rejected: Nullable(Type.Object({ version: Type.String(), at: Instant, reason: Type.String() })),
  scripts: Type.Object({
    /** Dependencies that have install scripts. They do not run unless they are allowed. */
    wanted: Type.Array(Type.String()),
    allowed: Type.Array(Type.String()),
  }),
  readme: Type.Boolean(),
  icon: Type.Boolean(),
});
export type PluginView = Static<typeof PluginView>;

/** An installation, an update or a removal. */
export const Operation = Type.Object({
  id: Type.Integer(),
  action: Type.Enum(["install", "update", "pin", "remove"]),
  source: Type.String(),
  /** The id of the plugin; null until it is known. */
  plugin: Nullable(Type.String()),
  startedAt: Instant,
  /** The current step, as a user-facing sentence; `done` and `failed` at the end. */
  step: Type.String(),
  endedAt: Nullable(Instant),
  error: Nullable(Type.String()),
});
export type Operation = Static<typeof Operation>;

export const FoundPackage = Type.Object({
  name: Type.String(),
  version: Type.String(),
  description: Type.String(),
  publisher: Nullable(Type.String()),
  date: Nullable(Type.String()),
  /** The id under which it is installed; null if it is not. */
  installed: Nullable(Type.String()),
});
export type FoundPackage = Static<typeof FoundPackage>;
