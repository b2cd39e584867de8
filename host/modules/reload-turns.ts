import type { ReloadTrigger } from "./receipt.ts";
import { REGARDLESS } from "./reload/engine.ts";
import type { ReloadReceipt } from "./view.ts";

type Reload = (
  trigger: ReloadTrigger,
  underWay: Promise<ReloadReceipt> | undefined,
) => Promise<ReloadReceipt>;

/** Makes of any number of requests to reload, while one is under way, one more reload at most. */
export class ReloadTurns {
  readonly #inOrder: (work: () => Promise<ReloadReceipt>) => Promise<ReloadReceipt>;
  readonly #reload: Reload;
  #running: Promise<ReloadReceipt> | undefined;
  #queued: Promise<ReloadReceipt> | undefined;
  #queuedFor: ReloadTrigger = "file";

  constructor(
    inOrder: (work: () => Promise<ReloadReceipt>) => Promise<ReloadReceipt>,
    reload: Reload,
  ) {
    this.#inOrder = inOrder;
    this.#reload = reload;
  }

  /** Whether a reload is under way. */
  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  ask(trigger: ReloadTrigger): Promise<ReloadReceipt> {
    const underWay = this.#running;
    // One that happens whether or not the code has changed is not lost in one that waits for its turn.
    if (!this.#queued || REGARDLESS.has(trigger)) this.#queuedFor = trigger;
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
