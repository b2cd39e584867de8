import { setInterval } from "node:timers";
import type { FromThread, ToThread } from "./protocol.ts";

/** Code that runs for this long without a pause, and uses a processor meanwhile, does not end. */
const LOOP_MS = 2_000;
/** Looks in that time. */
const LOOKS = 4;
/** A quiet thread is asked this often whether it answers, because its own timers may loop. */
const PING_MS = 5_000;
/** Ends of the thread in a row that no automation is known for. */
const MOST_ENDS = 5;

/** A started worker thread. */
export interface StartedThread {
  post(message: ToThread): void;
  terminate(): Promise<unknown>;
}

export interface ThreadEvents {
  readonly message: (message: FromThread) => void;
  /** Called once, when the thread has ended by itself. */
  readonly ended: (reason: string) => void;
}

/** Starts a thread. `running` gets the number of the version whose code runs. */
export type StartThread = (running: Int32Array, events: ThreadEvents) => StartedThread;

interface Dependencies {
  readonly start: StartThread;
  readonly message: (message: Exclude<FromThread, { kind: "pong" }>) => void;
  /**
   * Called when the thread was lost and another one has started, which knows nothing yet.
   * @param version the number of the version whose code ran; 0 if none is known
   */
  readonly lost: (version: number, reason: string) => void;
  /** Present if code may end the whole process. */
  readonly watch?: {
    /** True while a message is only sent when the thread has taken the one before. */
    readonly isCareful: () => boolean;
    /** Called before a message is sent. */
    readonly begins: (message: ToThread) => void;
    /** Called when the thread has taken all messages. */
    readonly ended: () => void;
  };
  /** CPU time of the process in milliseconds. */
  readonly cpuMs?: () => number;
  /** Absent: two seconds. */
  readonly loopMs?: number | undefined;
}

/** The thread in which the code of automations runs. It is ended when code does not end, and started again. */
export class CodeThread {
  readonly #parts: Dependencies;
  readonly #cpuMs: () => number;
  readonly #loopMs: number;
  readonly #running = new Int32Array(new SharedArrayBuffer(4));
  readonly #looking: NodeJS.Timeout;
  #thread: StartedThread | undefined;
  /** Messages that are not sent yet. */
  #unsent: ToThread[] = [];
  #ping = 0;
  /** The question that was not answered yet. */
  #asked: { readonly at: number; readonly cpuMs: number; isOverdue: boolean } | undefined;
  #quietSince = 0;
  #ends = 0;
  #isStopped = false;

  constructor(parts: Dependencies) {
    this.#parts = parts;
    this.#cpuMs = parts.cpuMs ?? cpuMsOfProcess;
    this.#loopMs = parts.loopMs ?? LOOP_MS;
    this.#looking = setInterval(() => this.#look(), this.#loopMs / LOOKS).unref();
  }

  /** Sends a message; the first one starts the thread. */
  post(message: ToThread): void {
    if (this.#isStopped) return;
    this.#unsent.push(message);
    this.#send();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#looking);
    await this.#thread?.terminate();
    this.#thread = undefined;
  }

  #send(): void {
    const { watch } = this.#parts;
    for (let next = this.#unsent[0]; next; next = this.#unsent[0]) {
      if (this.#asked && watch?.isCareful()) return; // the answer continues
      this.#unsent.shift();
      watch?.begins(next);
      this.#thread ??= this.#start();
      this.#thread.post(next);
      if (next.kind !== "home") this.#ask();
    }
  }

  #start(): StartedThread {
    const isMine = () => this.#thread === started;
    const started: StartedThread = this.#parts.start(this.#running, {
      message: (message) => {
        if (!isMine()) return;
        if (message.kind !== "pong") return this.#parts.message(message);
        this.#ends = 0;
        if (message.ping !== this.#ping) return;
        this.#asked = undefined;
        this.#parts.watch?.ended();
        this.#send();
      },
      ended: (reason) => {
        if (isMine()) this.#lost(reason);
      },
    });
    return started;
  }

  #ask(): void {
    this.#quietSince = performance.now();
    if (this.#asked) return;
    this.#asked = { at: performance.now(), cpuMs: this.#cpuMs(), isOverdue: false };
    this.#thread?.post({ kind: "ping", ping: ++this.#ping });
  }

  #look(): void {
    if (!this.#thread) return;
    if (!this.#asked) {
      if (performance.now() - this.#quietSince > PING_MS) this.#ask();
      return;
    }
    const waitedMs = performance.now() - this.#asked.at;
    const usedMs = this.#cpuMs() - this.#asked.cpuMs;
    if (waitedMs < this.#loopMs || usedMs < this.#loopMs / 2) return;
    if (!this.#asked.isOverdue) {
      this.#asked.isOverdue = true; // if this thread was busy, the answer may be there already
      return;
    }
    const thread = this.#thread;
    void thread.terminate();
    this.#lost(
      `its code ran for ${this.#loopMs / 1_000} s without a pause, such as in an endless loop`,
    );
  }

  #lost(reason: string): void {
    const version = Atomics.exchange(this.#running, 0, 0);
    this.#thread = undefined;
    this.#asked = undefined;
    this.#unsent = [];
    this.#parts.watch?.ended();
    if (this.#isStopped) return;
    if (version === 0 && ++this.#ends > MOST_ENDS) this.#isStopped = true;
    this.#parts.lost(version, reason);
  }
}

function cpuMsOfProcess(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
