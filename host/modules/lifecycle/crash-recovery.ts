import type { ModuleFault } from "../../api/module.ts";
import { toFault } from "../errors/to-fault.ts";
import { type ModuleStatus } from "../state/status.ts";
import type { Build } from "../versions/version.ts";
import type { LiveProcess } from "./live-process.ts";
import { LONGEST_PAUSE_MS } from "./pause-gate.ts";
import type { ProcessLoader } from "./process-loader.ts";
import { RestartPolicy } from "./restart-policy.ts";

/** The time a restart takes in addition to its back-off when the machine is busy. */
const START_MS = 500;

/** The parts of a module that a crash affects. */
export interface RecoveryDependencies {
  readonly process: LiveProcess;
  readonly loader: ProcessLoader;
  readonly status: ModuleStatus;
  /** The build that ran last. */
  readonly build: () => Build | undefined;
  /** Called when the new code crashed and `previous` runs again. */
  readonly onRollback: (previous: Build, fault: ModuleFault) => void;
  /** Called when the module crashed too often. */
  readonly onQuarantine: () => void;
  readonly say: (sentence: string, fault: ModuleFault) => void;
  /** Runs `work` while nothing else changes the module. */
  readonly enqueue: (work: () => Promise<void>) => void;
}

/** Recovers a crashed module: rolls back during probation, else restarts with back-off, and finally quarantines. */
export class CrashRecovery {
  readonly #parts: RecoveryDependencies;
  readonly #policy = new RestartPolicy();
  #restart: NodeJS.Timeout | undefined;
  /** Set while calls wait because the module is expected back soon. */
  #holdTimer: NodeJS.Timeout | undefined;

  constructor(parts: RecoveryDependencies) {
    this.#parts = parts;
  }

  /** `since` is when the fault began (monotonic, in ms); the back-off counts from there. */
  async crashed(fault: ModuleFault, since: number): Promise<void> {
    if (this.#parts.process.isRunning) return; // another generation runs already
    this.#holdCallsForRestart();
    if (!(await this.#returnToPrevious(fault))) this.#restartLater(fault, since);
  }

  /** Cancels pending restarts. */
  cancel(): void {
    clearTimeout(this.#restart);
    this.#clearHoldTimer();
  }

  /** Cancels pending restarts and resets the crash count, for a new start or new code. */
  forgive(): void {
    this.cancel();
    this.#policy.forgive();
  }

  /** Rolls back if the module is on probation: a crash then means that the new code is wrong. */
  async #returnToPrevious(fault: ModuleFault): Promise<boolean> {
    const { process, status, say, onRollback } = this.#parts;
    const previous = process.takeProbation();
    if (!previous) return false;
    status.restarting(fault, true);
    try {
      await process.start(previous.build, previous.state);
      this.#clearHoldTimer();
      status.started(previous.build.plugin);
      onRollback(previous.build, fault);
      return true;
    } catch (error) {
      say("the previous code does not start either", toFault(error));
      return false;
    }
  }

  #restartLater(fault: ModuleFault, since = performance.now()): void {
    const { process, loader, status, say, onQuarantine, enqueue } = this.#parts;
    const waitMs = this.#policy.crashed();
    if (waitMs === undefined) {
      onQuarantine();
      process.releaseCalls();
      const message = `it crashed too often; the last crash: ${fault.message}`;
      status.become("quarantined", { ...fault, message });
      say("the module crashed too often; quarantined until it is reloaded", fault);
      return;
    }
    if (waitMs + START_MS > LONGEST_PAUSE_MS) this.#releaseHeldCalls();
    status.restarting(fault, this.#holdTimer !== undefined);
    say("the module crashed; restarting", fault);
    loader.warm();
    const leftMs = Math.max(0, since + waitMs - performance.now());
    this.#restart = setTimeout(() => enqueue(() => this.#restartNow()), leftMs);
  }

  /** Lets calls wait, and its devices stay available, for as long as calls can wait. */
  #holdCallsForRestart(): void {
    this.#clearHoldTimer();
    this.#holdTimer = setTimeout(() => this.#releaseHeldCalls(), LONGEST_PAUSE_MS);
  }

  #releaseHeldCalls(): void {
    this.#clearHoldTimer();
    this.#parts.process.releaseCalls();
    this.#parts.status.stopExpectingRestart();
  }

  #clearHoldTimer(): void {
    clearTimeout(this.#holdTimer);
    this.#holdTimer = undefined;
  }

  async #restartNow(): Promise<void> {
    const { process, status, build } = this.#parts;
    const last = build();
    if (process.isRunning || !last || status.view.state !== "loading") return;
    try {
      await process.start(last);
      this.#clearHoldTimer();
      status.started(last.plugin);
    } catch (error) {
      this.#restartLater(toFault(error));
    }
  }
}
