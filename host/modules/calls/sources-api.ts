import { MantelError } from "@mantel/plugin-sdk/errors";
import type { Handlers } from "@mantel/plugin-sdk/rpc";
import type { SourceChange, SourcesHostApi } from "@mantel/plugin-sdk/sources";
import { type SourceFolders, SourceFollower } from "../sources/source-folders.ts";

/** A process that calls `ctx.sources`. */
export interface SourcesCaller {
  readonly id: string;
  readonly manifest: { readonly sources?: string };
  /** Sends a change to the process. */
  readonly sendSource: (change: SourceChange) => Promise<void>;
  readonly exited: Promise<unknown>;
  /** @throws MantelError `module_down` unless this is the working generation */
  readonly requireLive: () => void;
}

/** The calls of `ctx.sources`. */
export function sourcesApi(
  { id, manifest, sendSource, exited, requireLive }: SourcesCaller,
  folders: SourceFolders,
): Handlers<SourcesHostApi> {
  let follower: SourceFollower | undefined;
  const folder = () => {
    requireLive();
    if (manifest.sources !== undefined) return folders.folder(manifest.sources);
    const fix = 'add "sources" with the name of a folder to "mantel" in its package.json';
    throw new MantelError(
      "invalid",
      `${id} may not follow sources: its manifest does not declare it; ${fix}`,
    );
  };
  return {
    async followSources() {
      follower ??= new SourceFollower(folder(), sendSource);
      void exited.then(() => follower?.close());
      await follower.begin();
    },
    describeSources: async ({ files }) => folder().describe(Object(files)),
  };
}
