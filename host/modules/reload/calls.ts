import { MantelError } from "@mantel/plugin-sdk/errors";
import type { PluginApi } from "@mantel/plugin-sdk/protocol";
import { NotBegun, RemoteFault } from "@mantel/plugin-sdk/rpc";
import { REPEATABLE_SERVICES } from "@mantel/plugin-sdk/service";
import { Gate } from "./gate.ts";
import type { Started } from "./handover.ts";

/** The calls that reach a plugin from the house. */
export type Called = "command" | "activateScene" | "callService";

/** What callers have had since the host started. Drops were refused before the plugin saw them. */
export interface CallCounts {
  readonly calls: number;
  readonly errors: number;
  readonly drops: number;
}

/** What a module has done since the host started. */
export interface ModuleWork extends CallCounts {
  readonly id: string;
  readonly reloads: number;
  /** Log records that were left out because there were too many. */
  readonly logDrops: number;
}

export const NO_CALLS: CallCounts = { calls: 0, errors: 0, drops: 0 };

interface CallParts {
  readonly live: () => Started | undefined;
  readonly queueLength: () => number;
  /** The plugin's code threw what no caller can do anything about. */
  readonly onFault: (fault: RemoteFault) => void;
}

/** Takes calls to the live generation of a module, whichever that is. */
export class Calls {
  readonly gate: Gate;
  readonly #parts: CallParts;
  #underWay = 0;
  readonly #counts = { calls: 0, errors: 0, drops: 0 };

  constructor(id: string, parts: CallParts) {
    this.#parts = parts;
    this.gate = new Gate(id, parts.queueLength);
  }

  get counts(): CallCounts {
    return this.#counts;
  }

  /**
   * Waits, within the deadline, while the module changes hands or comes back from a crash. What a
   * process had not begun when it crashed goes to the next one, as does what only reads; what it had
   * begun does not, because nobody knows how far it came.
   *
   * @throws MantelError `module_down`, `outcome_unknown`, `deadline_passed` or the plugin's own
   */
  async call<M extends Called>(
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
  async #admit(longestMs: number): Promise<Started> {
    try {
      await this.gate.pass(longestMs);
      const live = this.#parts.live();
      if (live && this.#underWay < this.#parts.queueLength()) {
        this.#underWay++; // before anything is waited for: calls of one moment count each other
        return live;
      }
      const sentence = live
        ? `${this.#underWay} calls are under way already`
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
