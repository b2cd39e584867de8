import { MantelError } from "@mantel/plugin-sdk/errors";
import type { PluginApi } from "@mantel/plugin-sdk/protocol";
import { NotBegun, RemoteFault } from "@mantel/plugin-sdk/rpc";
import { REPEATABLE_SERVICES } from "@mantel/plugin-sdk/service";
import type { Candidate } from "./handover.ts";
import { PauseGate } from "./pause-gate.ts";

/** The calls that the host makes to a plugin. */
export type PluginMethod = "command" | "activateScene" | "image" | "callService";

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

interface CallDependencies {
  readonly live: () => Candidate | undefined;
  readonly queueLength: () => number;
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
    this.gate = new PauseGate(id, parts.queueLength);
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
  ): Promise<Awaited<ReturnType<PluginApi[M]>>> {
    const endsAt = performance.now() + deadlineMs;
    for (;;) {
      const { generation } = await this.#admit(endsAt - performance.now());
      this.#counts.calls++;
      try {
        const leftMs = Math.max(1, Math.ceil(endsAt - performance.now()));
        return (await generation.peer.call(method, input as never, leftMs)) as never;
      } catch (error) {
        const isReplaced = this.#parts.live()?.generation !== generation;
        if (isReplaced && mayRepeat(error, input)) continue;
        this.#counts.errors++;
        if (error instanceof RemoteFault) this.#parts.onFault(error);
        throw error;
      } finally {
        this.#underWay--;
      }
    }
  }

  /** The generation that takes a call now. @throws MantelError `module_down` */
  async #admit(longestMs: number): Promise<Candidate> {
    try {
      await this.gate.pass(longestMs);
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

function mayRepeat(error: unknown, input: object): boolean {
  if (error instanceof NotBegun) return true;
  const isUnknown = error instanceof MantelError && error.code === "outcome_unknown";
  return isUnknown && "name" in input && REPEATABLE_SERVICES.has(String(input.name));
}
