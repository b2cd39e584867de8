import type * as Esbuild from "esbuild";
import type { BuildContext, BuildOptions, BuildResult } from "esbuild";

/** The time without any build after which esbuild's process is ended: the next save may follow soon. */
const IDLE_MS = 60_000;

/** The same after a build that no save repeats, such as the dashboard's at a start. */
const IDLE_AFTER_ONCE_MS = 1_000;

const rebuilders = new Set<Rebuilder<BuildOptions>>();
let running = 0;
let idle: NodeJS.Timeout | undefined;
/** As `performance.now()`. A build that is kept for a second does not shorten another one's minute. */
let keptUntil = 0;
/** Loaded with the first build: a start that compiles nothing does not need it. */
let loaded: typeof Esbuild | undefined;

/** Builds once. @throws BuildFailure as esbuild's `build` */
export const build: typeof Esbuild.build = (options) =>
  whileBuilding((esbuild) => esbuild.build(options));

/** Builds what no save changes: esbuild's process is kept for a second only. @throws BuildFailure */
export const buildOnce: typeof Esbuild.build = (options) =>
  whileBuilding((esbuild) => esbuild.build(options), IDLE_AFTER_ONCE_MS);

/** Transforms the text of one file. @throws TransformFailure as esbuild's `transform` */
export const transform: typeof Esbuild.transform = (text, options) =>
  whileBuilding((esbuild) => esbuild.transform(text, options));

/** A build that is repeated. esbuild keeps its files in memory, until nothing was built for a minute. */
export class Rebuilder<T extends BuildOptions> {
  readonly #options: T;
  #context: Promise<BuildContext<T>> | undefined;

  constructor(options: T) {
    this.#options = options;
    rebuilders.add(this);
  }

  /** @throws BuildFailure as esbuild's `build` */
  rebuild(): Promise<BuildResult<T>> {
    return whileBuilding(async (esbuild) => {
      this.#context ??= esbuild.context<BuildOptions>(this.#options) as Promise<BuildContext<T>>;
      return (await this.#context).rebuild();
    });
  }

  /** Lets esbuild forget the files. A later `rebuild` reads them again. */
  async release(): Promise<void> {
    const context = this.#context;
    this.#context = undefined;
    await (await context?.catch(() => undefined))?.dispose();
  }

  async dispose(): Promise<void> {
    rebuilders.delete(this);
    await this.release();
  }
}

/** Ends esbuild's process. The next build starts it again. */
export async function endBuildService(): Promise<void> {
  clearTimeout(idle);
  idle = undefined;
  keptUntil = 0;
  await Promise.all([...rebuilders].map((each) => each.release()));
  if (running === 0) await loaded?.stop();
}

/** Keeps esbuild's process while `work` uses it, and for `idleMs` after it. */
export async function whileBuilding<T>(
  work: (esbuild: typeof Esbuild) => Promise<T>,
  idleMs = IDLE_MS,
): Promise<T> {
  running++;
  clearTimeout(idle);
  try {
    loaded ??= await import("esbuild");
    return await work(loaded);
  } finally {
    running--;
    const now = Math.round(performance.now());
    keptUntil = Math.max(keptUntil, now + idleMs);
    if (running === 0) idle = setTimeout(() => void endBuildService(), keptUntil - now).unref();
  }
}
