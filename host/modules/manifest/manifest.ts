import { readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { renamedChannel } from "@mantel/plugin-sdk/channel-names";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { HOST_FOLDERS } from "@mantel/plugin-sdk/host-folders";
import { placeOfFault } from "@mantel/plugin-sdk/json-text";
import { hasRoutes, Manifest, PLUGIN_ID } from "@mantel/plugin-sdk/manifest";
import { normalServiceKey } from "@mantel/plugin-sdk/service";
import { Type } from "typebox";
import { HOST_SECTIONS } from "../../config/schema.ts";
import { TOPICS } from "../../events/sse.ts";
import { check } from "../../validate.ts";
import { codeFrame, locationOfText } from "../errors/code-frame.ts";

/** Top-level paths of the API that the host serves, or will. */
export const HOST_PATHS: ReadonlySet<string> = new Set(
  [
    "/api /audit /backups /backup /calendar /channels /config /devices /docs /events /feeds /groups",
    "/health /languages /layout /metrics /modules /mqtt /notifications /openapi /pairing /places /plugins",
    "/restart /restore /rooms /services /session /setup /smart-home /tokens",
  ].flatMap((line) => line.split(" ")),
);

/** The largest package.json, in bytes. */
const LARGEST = 256 * 2 ** 10;

const PackageFile = Type.Object({
  version: Type.Optional(Type.String({ maxLength: 100 })),
  dependencies: Type.Optional(Type.Record(Type.String(), Type.String())),
  mantel: Manifest,
});

/** A plugin as its folder describes it. */
export interface PluginPackage {
  readonly id: string;
  /** The real path of the folder. */
  readonly folder: string;
  readonly version: string;
  readonly manifest: Manifest;
}

/** The error for a package that does not claim to be a plugin. */
export class NotAPlugin extends MantelError {
  constructor(message: string) {
    super("invalid", message);
  }
}

/**
 * Reads and checks the manifest in a plugin folder's `package.json`.
 * @throws MantelError `invalid`, with the file, each fault and its fix
 */
export async function readManifest(folder: string): Promise<PluginPackage> {
  const file = join(folder, "package.json");
  const [{ size }, real, realFolder] = await Promise.all([
    stat(file),
    realpath(file),
    realpath(folder),
  ]);
  if (size > LARGEST || real !== join(realFolder, "package.json")) {
    // An error message quotes a part of the text; behind a link that would be the text of another file.
    throw new MantelError("invalid", `${file} is a link or larger than ${LARGEST} bytes`);
  }
  const content = parseJson(await readFile(file, "utf8"), file);
  if (typeof content !== "object" || content === null || !("mantel" in content)) {
    throw new NotAPlugin(`${file} has no "mantel" key, which every plugin needs`);
  }
  rejectOldKeys(content.mantel, file);
  const { version, mantel } = check(PackageFile, content, file);
  for (const rule of RULES) {
    const fault = rule(mantel);
    if (fault !== undefined) throw new MantelError("invalid", `${file}: ${fault}`);
  }
  return { id: mantel.id, folder, version: version ?? "0.0.0", manifest: mantel };
}

/** Manifest keys of earlier versions, and what replaced them. */
const REPLACED_KEYS = { optIn: "requiresConfig", yieldsTo: "fallbackFor" };

function rejectOldKeys(manifest: unknown, file: string): void {
  for (const [key, replacement] of Object.entries(REPLACED_KEYS)) {
    if (typeof manifest !== "object" || manifest === null || !(key in manifest)) continue;
    const location = locationOfText(file, `"${key}"`, dirname(file));
    throw new MantelError("invalid", `${file}: mantel.${key} is now mantel.${replacement}`, {
      ...(location ? { location } : {}),
    });
  }
}

/** Rules that a schema cannot express. Each returns a sentence if it is violated. */
const RULES: readonly ((manifest: Manifest) => string | undefined)[] = [
  ({ id }) =>
    HOST_SECTIONS.has(id)
      ? `mantel.id must not be ${id}, which is a section of the host's config`
      : undefined,
  ({ server, widget }) =>
    server === undefined && widget === undefined
      ? 'mantel needs a "server" or a "widget" entry'
      : undefined,
  ({ kinds, widget }) =>
    kinds.includes("widget") !== (widget !== undefined)
      ? 'mantel.kinds must hold "widget" if and only if there is a "widget" entry'
      : undefined,
  ({ kinds, bridge }) =>
    kinds.includes("bridge") !== (bridge !== undefined)
      ? 'mantel.kinds must hold "bridge" if and only if there is a "bridge" section'
      : undefined,
  ({ kinds, server }) =>
    server === undefined && kinds.some((kind) => kind !== "widget")
      ? 'a bridge, service or automation needs a "server" entry'
      : undefined,
  ({ permissions }) => {
    const own = permissions?.folders?.find((folder) => HOST_FOLDERS.includes(folder));
    return own === undefined
      ? undefined
      : `mantel.permissions.folders must not hold "${own}", which is one of the host's own folders`;
  },
  ({ sources }) =>
    sources !== undefined && HOST_FOLDERS.includes(sources)
      ? `mantel.sources must not be "${sources}", which is one of the host's own folders`
      : undefined,
  ({ needs, widget }) =>
    needs !== undefined && widget === undefined
      ? 'mantel.needs is for a widget, and there is no "widget" entry'
      : undefined,
  ({ needs }) => {
    const former = needs?.channels?.find((name) => renamedChannel(name) !== undefined);
    return former === undefined
      ? undefined
      : `"${former}" in mantel.needs.channels is now "${renamedChannel(former)}"`;
  },
  ({ needs }) => {
    const own = needs?.reads?.find((path) => HOST_PATHS.has(path));
    return own === undefined
      ? undefined
      : `mantel.needs.reads must not hold "${own}", which the host serves itself`;
  },
  ({ shares = [], provides = [] }) => {
    const own = provides.map(normalServiceKey);
    const missing = shares.find((name) => !own.includes(normalServiceKey(name)));
    return missing && `"${missing}" in mantel.shares must also be in mantel.provides`;
  },
  ({ paths = {} }) => {
    const own = Object.keys(paths).find((path) => HOST_PATHS.has(path));
    return own === undefined
      ? undefined
      : `mantel.paths must not hold "${own}", which the host serves itself`;
  },
  ({ paths = {} }) => {
    const topics = Object.values(paths).map((path) => (hasRoutes(path) ? "" : path.event?.topic));
    const own = topics.find((topic) => TOPICS.some((each) => each === topic));
    return own && `"${own}" in mantel.paths is a topic of the host's own events`;
  },
  (manifest) =>
    [manifest.server, manifest.widget].some((entry) => entry?.split("/").includes(".."))
      ? "an entry is outside the plugin's folder"
      : undefined,
];

/** @throws MantelError `invalid` with the position of the syntax error */
export function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const { line, column } = placeOfFault(text);
    throw new MantelError("invalid", `${file} is not JSON: ${(error as Error).message}`, {
      cause: error,
      location: { file: basename(file), line, column, frame: codeFrame(text, { line, column }) },
    });
  }
}

/** True for a valid plugin id. */
export function isPluginId(text: string): boolean {
  return text.length <= 64 && new RegExp(PLUGIN_ID).test(text);
}
