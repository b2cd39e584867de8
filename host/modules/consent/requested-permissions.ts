import { resolve, sep } from "node:path";
import { includesPart } from "@mantel/plugin-sdk/home-permissions";
import { hasRoutes, type Manifest } from "@mantel/plugin-sdk/manifest";
import type { Needs } from "@mantel/plugin-sdk/needs";
import {
  isPath,
  type PermissionName,
  permissionWords,
  WEIGHING_LIMITS,
} from "@mantel/plugin-sdk/permission-words";
import { normalServiceKey } from "@mantel/plugin-sdk/service";
import { limitsOf } from "../manifest/limits.ts";

/** One requested permission: a flag, or one value of a list or a limit. */
export interface RequestedPermission {
  readonly name: PermissionName;
  readonly value?: string;
}

/** One granted permission. Its name may come from another version of Mantel. */
export interface Granted {
  readonly name: string;
  readonly value?: string;
}

const DEFAULT_LIMITS = limitsOf({});

/** Each change of a module asks for them, and a manifest never changes. */
const known = new WeakMap<Manifest, readonly RequestedPermission[]>();

/** All permissions in a manifest that need consent. Limits need it above their defaults. */
export function requestedPermissions(manifest: Manifest): readonly RequestedPermission[] {
  const requested = known.get(manifest) ?? find(manifest);
  known.set(manifest, requested);
  return requested;
}

function find({
  permissions: { home = {}, ...permissions } = {},
  limits = {},
  ...manifest
}: Manifest): RequestedPermission[] {
  const { provides = [], uses = [], paths = {}, needs = {}, sources = "" } = manifest;
  const flags = { server: manifest.server !== undefined };
  const requested = entries({
    ...flags,
    ...permissions,
    homeReads: home.read ?? [],
    homeControls: home.control ?? [],
    provides,
    uses,
    paths: entries(paths).map(([path, what]) => (hasRoutes(what) ? `${path}/*` : path)),
    sources,
    ...widgetPermissions(needs),
  }).flatMap(([name, value]) => {
    if (Array.isArray(value)) return value.map((each) => ({ name, value: plain(name, each) }));
    if (typeof value === "string") return value === "" ? [] : [{ name, value }];
    return value ? [{ name }] : [];
  });
  const raised = entries(WEIGHING_LIMITS).flatMap(([name, isWeighing]): RequestedPermission[] => {
    const limit = limits[name] ?? 0;
    if (!isWeighing || limit <= DEFAULT_LIMITS[name]) return [];
    return [{ name: name as PermissionName, value: String(limit) }];
  });
  return [...requested, ...raised];
}

/** The needs of a widget, one by one, so that an update which needs less requires no consent. */
function widgetPermissions({
  devices = [],
  kinds,
  rooms,
  channels = [],
  scenes,
  reads = [],
  services = [],
}: Needs) {
  const which = (kinds ?? [""]).flatMap((kind) =>
    (rooms ?? [""]).map((room) => `${kind} devices${room === "" ? "" : ` in ${room}`}`.trim()),
  );
  return {
    widgetSees: [
      ...(devices.includes("read") ? which : []),
      ...channels.map((name) => `the channel ${name}`),
    ],
    widgetCommands: [
      ...(devices.includes("command") ? which : []),
      ...(scenes === true ? ["scenes"] : []),
    ],
    widgetReads: reads,
    widgetCalls: services.map(normalServiceKey),
  };
}

/** The requested permissions that `granted` does not cover. */
export function missingPermissions(
  granted: readonly Granted[],
  asked: readonly RequestedPermission[],
): RequestedPermission[] {
  return asked.filter((each) => !granted.some((grant) => covers(grant, each)));
}

/** One permission as a user-facing phrase that follows "It may …". */
export function describePermission({ name, value = "" }: RequestedPermission): string {
  const words = permissionWords[name];
  return typeof words === "string" ? words : words(value);
}

function covers(granted: Granted, asked: RequestedPermission): boolean {
  if (granted.name !== asked.name) return false;
  const [had = "", wanted = ""] = [granted.value, asked.value];
  if (had === wanted) return true;
  return COVERS[asked.name]?.(had, wanted) ?? false;
}

/** A permission for all devices covers those of a kind or in a room; one for a kind covers that kind in a room. */
function coversDevices(had: string, wanted: string): boolean {
  const [given, asked] = [devicesIn(had), devicesIn(wanted)];
  if (!given || !asked) return false;
  return (
    [undefined, asked.kind].includes(given.kind) && [undefined, asked.room].includes(given.room)
  );
}

/** `*` covers every device and scene, `light:*` those of the kind. */
function coversPart(had: string, wanted: string): boolean {
  return wanted !== "calendar" && wanted !== "location" && includesPart([had], wanted);
}

/** Parses a value such as `light devices in Kitchen`. */
function devicesIn(value: string): { readonly kind?: string; readonly room?: string } | undefined {
  return /^(?:(?<kind>\S+) )?devices(?: in (?<room>.+))?$/.exec(value)?.groups;
}

/** The values that a value covers besides itself. */
const COVERS: { readonly [N in PermissionName]?: (had: string, wanted: string) => boolean } = {
  hosts: (had, wanted) => had === "*" || (had.startsWith("*.") && wanted.endsWith(had.slice(1))),
  openNetwork: (had) => had === "always",
  homeReads: coversPart,
  homeControls: coversPart,
  folders: (had, wanted) => isPath(had) && wanted.startsWith(had.endsWith(sep) ? had : had + sep),
  widgetSees: coversDevices,
  widgetCommands: coversDevices,
  memoryMiB: (had, wanted) => Number(had) >= Number(wanted),
  storageMiB: (had, wanted) => Number(had) >= Number(wanted),
  cpuPercent: (had, wanted) => Number(had) >= Number(wanted),
};

/** Normalizes a path without `.`, `..` and doubled slashes, so that the real target is shown and compared. */
function plain(name: string, value: string): string {
  return name === "folders" && isPath(value) ? resolve(value) : value;
}

function entries<T extends object>(record: T): [keyof T, T[keyof T]][] {
  return Object.entries(record) as [keyof T, T[keyof T]][];
}
