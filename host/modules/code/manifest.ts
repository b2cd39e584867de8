import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { placeOfFault } from "@mantel/plugin-sdk/json-text";
import { Manifest, PLUGIN_ID } from "@mantel/plugin-sdk/manifest";
import { HOST_FOLDERS } from "@mantel/plugin-sdk/permissions";
import { Type } from "typebox";
import { HOST_SECTIONS } from "../../config/schema.ts";
import { check } from "../../validate.ts";
import { codeFrame } from "./code-frame.ts";

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

/**
 * Reads and checks the manifest in a plugin folder's `package.json`.
 * @throws MantelError `invalid`, naming the file, each fault and what to write instead
 */
export async function readManifest(folder: string): Promise<PluginPackage> {
  const file = join(folder, "package.json");
  const content = parseJson(await readFile(file, "utf8"), file);
  if (typeof content !== "object" || content === null || !("mantel" in content)) {
    throw new MantelError("invalid", `${file} has no "mantel" key, which makes a package a plugin`);
  }
  const { version, mantel } = check(PackageFile, content, file);
  for (const rule of RULES) {
    const fault = rule(mantel);
    if (fault !== undefined) throw new MantelError("invalid", `${file}: ${fault}`);
  }
  return { id: mantel.id, folder, version: version ?? "0.0.0", manifest: mantel };
}

/** What a schema cannot say. Each gives a sentence when it is broken. */
const RULES: readonly ((manifest: Manifest) => string | undefined)[] = [
  ({ id }) =>
    HOST_SECTIONS.has(id)
      ? `mantel.id is ${id}, which is a section of the host's config`
      : undefined,
  ({ server, widget }) =>
    server === undefined && widget === undefined
      ? 'mantel needs a "server" or a "widget" entry'
      : undefined,
  ({ kinds, widget }) =>
    kinds.includes("widget") !== (widget !== undefined)
      ? 'mantel.kinds holds "widget" exactly when there is a "widget" entry'
      : undefined,
  ({ kinds, bridge }) =>
    kinds.includes("bridge") !== (bridge !== undefined)
      ? 'mantel.kinds holds "bridge" exactly when there is a "bridge" section'
      : undefined,
  ({ kinds, server }) =>
    server === undefined && kinds.some((kind) => kind !== "widget")
      ? 'a bridge or service needs a "server" entry'
      : undefined,
  ({ permissions }) => {
    const own = permissions?.folders?.find((folder) => HOST_FOLDERS.includes(folder));
    return own === undefined
      ? undefined
      : `mantel.permissions.folders holds "${own}", which is a folder of the host's own`;
  },
  (manifest) =>
    [manifest.server, manifest.widget].some((entry) => entry?.split("/").includes(".."))
      ? "an entry lies outside the plugin's folder"
      : undefined,
];

/** @throws MantelError `invalid` with the place of what is no JSON */
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

/** True for a text that could be a plugin's id. */
export function isPluginId(text: string): boolean {
  return text.length <= 64 && new RegExp(PLUGIN_ID).test(text);
}
