/** The compiled code of one file. */
export interface SourceCode {
  /** Changes with the code, and not with comments. */
  readonly hash: string;
  /** CommonJS. The only module that it requires is `mantel`, which the plugin provides. */
  readonly code: string;
  /** A source map (JSON) whose sources are relative to the folder. */
  readonly map: string;
}

/** An error of the compiler. Lines and columns count from 1. */
export interface SourceFault {
  /** A user-facing sentence. */
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  /** The lines around the place. */
  readonly frame?: string;
}

/** A change of one file: it was compiled, could not be compiled, or was deleted. */
export type SourceChange = { readonly name: string } & (
  | { readonly kind: "compiled"; readonly source: SourceCode }
  | { readonly kind: "faulty"; readonly fault: SourceFault }
  | { readonly kind: "deleted" }
);

/** The TypeScript files in the folder that the manifest names under `sources`. */
export interface Sources {
  /**
   * Calls `listener` for each file, and again whenever it changes, one after the other. Resolves when the listener has had
   * the present files. A file that was saved while it could be compiled, and cannot be now, comes twice: with its last
   * good code and with its fault.
   * @throws MantelError `invalid` if the manifest names no folder
   */
  follow(listener: (change: SourceChange) => void): Promise<void>;
  /**
   * Writes files for editors beside the sources: declarations (`home.d.ts`), which are replaced, and `tsconfig.json`, which
   * is written only if there is none.
   * @throws MantelError `invalid` for another name, `disk_full`
   */
  describe(files: Readonly<Record<string, string>>): Promise<void>;
}

/** The calls of `ctx.sources`. */
export interface SourcesHostApi {
  /** Sends changes from now on. Resolves when the process has taken the present files. */
  followSources(nothing: Record<string, never>): Promise<void>;
  describeSources(request: { files: Readonly<Record<string, string>> }): Promise<void>;
}
