import type { ReloadTrigger } from "./receipt.ts";
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

  constructor(
    inOrder: (work: () => Promise<ReloadReceipt>) => Promise<ReloadReceipt>,
    reload: Reload,
  ) {
    this.#inOrder = inOrder;
    this.#reload = reload;
  }

  ask(trigger: ReloadTrigger): Promise<ReloadReceipt> {
    const underWay = this.#running;
    this.#queued ??= this.#inOrder(() => {
      this.#running = this.#queued;
      this.#queued = undefined;
      return this.#reload(trigger, underWay);
    }).finally(() => {
      this.#running = undefined;
    });
    return this.#queued;
  }
}
