import type { ChannelPublisher, Log } from "@mantel/plugin-sdk";
import type { Trace, TracedAction } from "./engine/automation.ts";

/** Runs that wait to be published. Of more, the oldest are left out; traces still have them. */
const MOST_WAITING = 500;
/** Actions of a published run, without what was asked, which may be long; the last ones count. */
const MOST_ACTIONS = 100;

/** Publishes runs one after the other, each as it is when its turn comes, so that no run is skipped. */
export class RunPublisher {
  readonly #channel: ChannelPublisher<Trace>;
  readonly #log: Log;
  readonly #waiting = new Map<string, () => Trace>();
  #isPublishing = false;

  constructor(channel: ChannelPublisher<Trace>, log: Log) {
    this.#channel = channel;
    this.#log = log;
  }

  publish(run: string, trace: () => Trace): void {
    this.#waiting.set(run, trace);
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > MOST_WAITING && oldest !== undefined) this.#waiting.delete(oldest);
    if (this.#isPublishing) return;
    this.#isPublishing = true;
    queueMicrotask(() => void this.#publishAll());
  }

  /** Never rejects. */
  async #publishAll(): Promise<void> {
    for (let [next] = this.#waiting; next; [next] = this.#waiting) {
      const [run, trace] = next;
      this.#waiting.delete(run);
      const { actions, ...rest } = trace();
      try {
        const last = actions.slice(-MOST_ACTIONS).map(withoutRequest);
        await this.#channel.publish({ ...rest, actions: last });
      } catch (error) {
        this.#log.warn("could not publish a run", { run, error });
      }
    }
    this.#isPublishing = false;
  }
}

function withoutRequest(action: TracedAction): Omit<TracedAction, "request"> {
  const { request: _, ...rest } = action;
  return rest;
}
