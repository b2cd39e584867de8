import type { Build } from "../code/build.ts";
import { type ModuleStatus, toFault } from "../status.ts";
import type { ModuleFault } from "../view.ts";
import { WAIT_MS } from "./gate.ts";
import type { ServerSide } from "./server-side.ts";
import { Supervisor } from "./supervisor.ts";

/** What a restart takes besides its wait, when the machine is busy. */
const START_MS = 500;

/** What a crash touches of its module. */
export interface RecoveryParts {
  readonly server: ServerSide;
  readonly status: ModuleStatus;
  /** The build that ran last. */
  readonly build: () => Build | undefined;
  /** The code on the disk was wrong: `previous` runs again. */
  readonly wentBack: (previous: Build, fault: ModuleFault) => void;
  /** The module crashed too often. */
  readonly gaveUp: () => void;
  readonly say: (sentence: string, fault: ModuleFault) => void;
  /** Does `work` when nothing else changes the module. */
  readonly inOrder: (work: () => Promise<void>) => void;
}

/** Brings a crashed module back: the code before on probation, else a restart, at last quarantine. */
export class Recovery {
  readonly #parts: RecoveryParts;
  readonly #supervisor = new Supervisor();
  #restart: NodeJS.Timeout | undefined;
  /** Runs while it is expected back so soon that calls wait for it. */
  #patience: NodeJS.Timeout | undefined;

  constructor(parts: RecoveryParts) {
    this.#parts = parts;
  }

  /** `since` is when the fault began (monotonic, in ms): a back-off counts from there. */
  async crashed(fault: ModuleFault, since: number): Promise<void> {
    if (this.#parts.server.live) return; // another generation works by now
    this.#expectBack();
    if (!(await this.#goBack(fault))) this.#restartLater(fault, since);
  }

  /** No restart comes from a crash before now. */
  cancel(): void {
    clearTimeout(this.#restart);
    this.#endPatience();
  }

  /** A new start or new code is a new beginning. */
  forgive(): void {
    this.cancel();
    this.#supervisor.forgive();
  }

  /** On probation a crash means that the new code is wrong. */
  async #goBack(fault: ModuleFault): Promise<boolean> {
    const { server, status, say, wentBack } = this.#parts;
    const previous = server.takePrevious();
    if (!previous) return false;
    status.restarting(fault, true);
    try {
      await server.start(previous.build, previous.state);
      this.#endPatience();
      status.started(previous.build.plugin);
      wentBack(previous.build, fault);
      return true;
    } catch (error) {
      say("the code before does not start either", toFault(error));
      return false;
    }
  }

  #restartLater(fault: ModuleFault, since = performance.now()): void {
    const { server, status, say, gaveUp, inOrder } = this.#parts;
    const waitMs = this.#supervisor.crashed();
    if (waitMs === undefined) {
      gaveUp();
      server.letGo();
      const message = `it crashed too often; at last ${fault.message}`;
      status.become("quarantined", { ...fault, message });
      say("the module crashed too often and rests until it is reloaded", fault);
      return;
    }
    if (waitMs + START_MS > WAIT_MS) this.#losePatience();
    status.restarting(fault, this.#patience !== undefined);
    say("the module crashed and starts again", fault);
    server.warm();
    const leftMs = Math.max(0, since + waitMs - performance.now());
    this.#restart = setTimeout(() => inOrder(() => this.#restartNow()), leftMs);
  }

  /** Calls wait for it, and its devices stay available, for as long as calls can wait. */
  #expectBack(): void {
    this.#endPatience();
    this.#patience = setTimeout(() => this.#losePatience(), WAIT_MS);
  }

  #losePatience(): void {
    this.#endPatience();
    this.#parts.server.letGo();
    this.#parts.status.staysAway();
  }

  #endPatience(): void {
    clearTimeout(this.#patience);
    this.#patience = undefined;
  }

  async #restartNow(): Promise<void> {
    const { server, status, build } = this.#parts;
    const last = build();
    if (server.live || !last || status.view.state !== "loading") return;
    try {
      await server.start(last);
      this.#endPatience();
      status.started(last.plugin);
    } catch (error) {
      this.#restartLater(toFault(error));
    }
  }
}
