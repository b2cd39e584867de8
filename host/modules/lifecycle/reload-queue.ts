import type { ReloadResult } from "../../api/module.ts";
import type { ReloadTrigger } from "../state/reload-result.ts";

/** Triggers that reload a module even if its code is unchanged. */
export const ALWAYS_RELOADS: ReadonlySet<ReloadTrigger> = new Set(["config", "sdk"]);

type Reload = (
  trigger: ReloadTrigger,
  underWay: Promise<ReloadResult> | undefined,
) => Promise<ReloadResult>;

/** Merges all requests to reload that arrive during a reload into one further reload. */
export class ReloadQueue {
  readonly #inOrder: (work: () => Promise<ReloadResult>) => Promise<ReloadResult>;
  readonly #reload: Reload;
  #running: Promise<ReloadResult> | undefined;
  #queued: Promise<ReloadResult> | undefined;
  #queuedFor: ReloadTrigger = "file";

  constructor(
    inOrder: (work: () => Promise<ReloadResult>) => Promise<ReloadResult>,
    reload: Reload,
  ) {
    this.#inOrder = inOrder;
    this.#reload = reload;
  }

  /** True while a reload is running. */
  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  ask(trigger: ReloadTrigger): Promise<ReloadResult> {
    const underWay = this.#running;
    // If one of the merged requests must or may reload unchanged code too, so does the merged reload.
    if (!this.#queued || rankOf(trigger) > rankOf(this.#queuedFor)) this.#queuedFor = trigger;
    this.#queued ??= this.#inOrder(() => {
      this.#running = this.#queued;
      this.#queued = undefined;
      return this.#reload(this.#queuedFor, underWay);
    }).finally(() => {
      this.#running = undefined;
    });
    return this.#queued;
  }
}

function rankOf(trigger: ReloadTrigger): number {
  if (ALWAYS_RELOADS.has(trigger)) return 2;
  return trigger === "request" ? 1 : 0;
}
