import { isDeepStrictEqual } from "node:util";
import type { Bundle } from "../build/compile.ts";
import type { PluginPackage } from "../manifest/manifest.ts";

/** The configured options of a plugin, without secrets. */
export type OptionsSection = Readonly<Record<string, unknown>>;

/** Everything a server process starts from, and a rollback needs: code, manifest and config. */
export interface Build extends Bundle {
  readonly plugin: PluginPackage;
  /** The config it last worked with, for the case that the current one is invalid; absent in a new build. */
  readonly section?: OptionsSection;
}

/** A widget's code as the browser loads it. */
export interface WidgetBundle {
  readonly hash: string;
  readonly code: string;
  readonly map: string;
  /** Absolute paths of every source file in it. */
  readonly inputs: readonly string[];
}

/** A complete version of a module: its manifest, and the code of the server side and the widget if it has them. */
export interface Version {
  readonly plugin: PluginPackage;
  readonly server: Build | undefined;
  readonly widget: WidgetBundle | undefined;
}

/** Identifies a version: its manifest, and the hashes of its code. */
export interface VersionId {
  readonly plugin: PluginPackage;
  readonly server?: string | undefined;
  readonly widget?: string | undefined;
}

/** The versions of a module besides the running one. Instants are ISO 8601. */
export interface History {
  /** The version that ran before, until then. A rollback returns to it. */
  readonly previous?: (Version & { readonly until: string }) | undefined;
  /** The version that someone rolled back, and when. It does not start again until it changes. */
  readonly rolledBack?: (VersionId & { readonly at: string }) | undefined;
}

/** True for the same code under the same manifest. */
export function isSameBuild(one: Build, other: Build | undefined): boolean {
  return one.hash === other?.hash && isDeepStrictEqual(one.plugin, other.plugin);
}

export function versionIdOf({ plugin, server, widget }: Version): VersionId {
  return { plugin, server: server?.hash, widget: widget?.hash };
}

/** True for equal versions. One may come from a file, where absent fields are missing. */
export function isSameVersion(one: VersionId, other: VersionId): boolean {
  const plain = (id: VersionId): unknown => JSON.parse(JSON.stringify(id));
  return isDeepStrictEqual(plain(one), plain(other));
}

/** True if a changed manifest or folder can take over without a stop, because it is the same kind of plugin. */
export function isReplaceableBy({ manifest }: PluginPackage, next: PluginPackage): boolean {
  const isSame = (part: "server" | "bridge") =>
    (manifest[part] === undefined) === (next.manifest[part] === undefined);
  return isSame("server") && isSame("bridge");
}
