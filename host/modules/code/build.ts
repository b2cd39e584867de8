import { isDeepStrictEqual } from "node:util";
import type { Bundle } from "./compile.ts";
import type { PluginPackage } from "./manifest.ts";

/** What people have set of a plugin's options, without secrets. */
export type Section = Readonly<Record<string, unknown>>;

/** All that a generation is started from, and that can be gone back to: code, manifest and config. */
export interface Build extends Bundle {
  readonly plugin: PluginPackage;
  /** What it last worked with, for when what is set now is wrong; absent in a build that is new. */
  readonly section?: Section;
}

/** Whether two builds are the same code under the same manifest. */
export function isSameBuild(one: Build, other: Build | undefined): boolean {
  return one.hash === other?.hash && isDeepStrictEqual(one.plugin, other.plugin);
}
