import { MantelError } from "@mantel/plugin-sdk/errors";
import type { PluginApi } from "@mantel/plugin-sdk/protocol";
import { NotBegun, RemoteFault } from "@mantel/plugin-sdk/rpc";
import type { Live } from "./handover.ts";
import { PauseGate } from "./pause-gate.ts";

/** The calls that the host makes to a plugin. */
export type PluginMethod =
  | "command"
  | "activateScene"
  | "image"
  | "nextFrame"
  | "video"
  | "callService"
  | "answerRoute"
  | "runSchedule";

/** Results of calls since the host started. Dropped calls were refused before the plugin saw them. */
export interface CallCounts {
  readonly calls: number;
  readonly errors: number;
  readonly drops: number;
}

/** The work of a module since the host started. */
export interface ModuleWork extends CallCounts {
  readonly id: string;
  readonly reloads: number;
  /** The number of log records dropped because there were too many. */
  readonly logDrops: number;
}

export const NO_CALLS: CallCounts = { calls: 0, errors: 0, drops: 0 };

/** The checks of one call. */
export interface CallChecks {
  /** Checks the call by the code that takes it now. */
  before(live: Live): void;
  /** Checks the plugin's answer, and returns the one for the caller. */
  after(answer: unknown): unknown;
  /** The error for the caller. */
  told(error: unknown): unknown;
  /** True for a read-only call, which may be repeated if its outcome is unknown. */
  readonly isRepeatable: boolean;
}

const UNCHECKED: CallChecks = {
  before: () => undefined,
  after: (answer) => answer,
  told: (error) => error,
  isRepeatable: false,
};

interface CallDependencies {
  readonly live: () => Live | undefined;
  readonly queueLength: () => number;
  /** The time for which the module's process and the host have waited for a CPU since they began. */
  readonly waitedForCpuMs: () => number;
  /** Called when a call begins to wait. */
  readonly onWait: () => void;
  /** Called for errors in the plugin's code that no caller can handle. */
  readonly onFault: (fault: RemoteFault) => void;
}

/** Routes calls to the live generation of a module. */
export class CallRouter {
  readonly gate: PauseGate;
  readonly #parts: CallDependencies;
  #underWay = 0;
  readonly #counts = { calls: 0, errors: 0, drops: 0 };

  constructor(id: string, parts: CallDependencies) {
    this.#parts = parts;
    this.gate = new PauseGate(id, parts.queueLength, parts.waitedForCpuMs, parts.onWait);
  }

  get counts(): CallCounts {
    return this.#counts;
  }

  /**
   * Waits, within the deadline, during a handover or a restart after a crash. A call that the crashed process
   * had not begun is repeated in the next process, and so is a read-only call. A call it had begun is not
   * repeated, because its outcome is unknown.
   *
   * @throws MantelError `module_down`, `outcome_unknown`, `deadline_passed` or the plugin's own
   */
  async call<M extends PluginMethod>(
    method: M,
    input: Parameters<PluginApi[M]>[0],
    deadlineMs: number,
    checks: CallChecks = UNCHECKED,
  ): Promise<Awaited<ReturnType<PluginApi[M]>>> {
    const endsAt = performance.now() + deadlineMs;
    for (;;) {
      const live = await this.#admit(endsAt - performance.now());
      this.#counts.calls++;
      try {
        const leftMs = Math.max(1, Math.ceil(endsAt - performance.now()));
        checks.before(live);
        const answer = await live.generation.peer.call(method, input as never, leftMs);
        return checks.after(answer) as never;
      } catch (error) {
        const isReplaced = this.#parts.live()?.generation !== live.generation;
        if (isReplaced && mayRepeat(error, checks)) continue;
        this.#counts.errors++;
        const told = checks.told(error);
        if (told instanceof RemoteFault) this.#parts.onFault(told);
        throw told;
      } finally {
        this.#underWay--;
      }
    }
  }

  /** The generation that takes a call now. @throws MantelError `module_down` */
  async #admit(longestMs: number): Promise<Live> {
    try {
      do await this.gate.pass(longestMs);
      while (!this.#parts.live() && !this.gate.isOpen); // it may have been closed just now
      const live = this.#parts.live();
      if (live && this.#underWay < this.#parts.queueLength()) {
        this.#underWay++; // counted before any wait, so that simultaneous calls count each other
        return live;
      }
      const sentence = live
        ? `${this.#underWay} calls are already running`
        : "the module is not running";
      throw new MantelError("module_down", sentence, { retryAfterMs: 1_000 });
    } catch (error) {
      this.#counts.drops++;
      throw error;
    }
  }
}

function mayRepeat(error: unknown, { isRepeatable }: CallChecks): boolean {
  if (error instanceof NotBegun) return true;
  return isRepeatable && error instanceof MantelError && error.code === "outcome_unknown";
}
