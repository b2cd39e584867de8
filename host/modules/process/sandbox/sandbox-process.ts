import type { ChildProcess } from "node:child_process";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import { killGroup } from "../leftover-processes.ts";
import { findChild } from "../procfs.ts";
import { INFO_FD } from "./bubblewrap.ts";

/** Exit codes above this mean that a signal ended the process (bwrap(1), sh(1)). */
const SIGNAL_BASE = 128;
/** The time that bubblewrap has to end after its sandbox; then it is killed. */
const OUTER_MS = 1_000;

/**
 * A process in a sandbox of bubblewrap. It consists of three processes: bubblewrap outside, the first
 * process inside, and the plugin's. When the first process ends, the kernel ends all others inside.
 */
export class SandboxProcess {
  readonly #outer: ChildProcess;
  #first: number | undefined;
  #pid: number | undefined;
  #isEnding = false;

  constructor(outer: ChildProcess) {
    this.#outer = outer;
    let info = "";
    const { [INFO_FD]: stream } = outer.stdio as unknown as (Readable | undefined)[];
    stream?.on("error", () => undefined); // it did not start
    stream?.on("data", (chunk: Buffer) => {
      info += chunk.toString("latin1");
      this.#first ??= firstProcessIn(info);
      if (this.#isEnding && this.#first !== undefined) this.kill();
    });
  }

  /** The id of the plugin's process outside the sandbox; `undefined` until it has started. */
  get pid(): number | undefined {
    if (this.#first !== undefined) this.#pid ??= findChild(this.#first);
    return this.#pid;
  }

  /** Kills every process in the sandbox. */
  kill(): void {
    this.#isEnding = true;
    if (this.#first === undefined) return this.#killGroup();
    try {
      process.kill(this.#first, "SIGKILL");
    } catch {
      // ESRCH: it has just ended
    }
    setTimeout(() => this.#outer.kill("SIGKILL"), OUTER_MS).unref();
  }

  /**
   * Kills bubblewrap while it builds the sandbox, with its whole group: its first child would otherwise wait for it for
   * ever, because the kernel does not end that child with bubblewrap yet.
   */
  #killGroup(): void {
    this.#outer.kill("SIGKILL");
    if (this.#outer.pid !== undefined) killGroup(this.#outer.pid);
  }
}

/** The signal behind an exit code of bubblewrap, if any. */
export function signalOfExitCode(code: number): NodeJS.Signals | undefined {
  const number = code - SIGNAL_BASE;
  const known = Object.entries(constants.signals).find(([, each]) => each === number);
  return known?.[0] as NodeJS.Signals | undefined;
}

function firstProcessIn(info: string): number | undefined {
  const [, pid] = /"child-pid": (\d+)/.exec(info) ?? [];
  return pid === undefined ? undefined : Number(pid);
}
