import { type ChildProcess, fork } from "node:child_process";
import { createInterface } from "node:readline";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { HostApi, PluginApi } from "@mantel/plugin-sdk/protocol";
import { type Begin, type Handlers, Peer } from "@mantel/plugin-sdk/rpc";

const TAIL_LINES = 30;
const METHODS = [
  "publishDevices",
  "updateDevices",
  "publishScenes",
  "publish",
  "callService",
  "reportDegraded",
  "log",
] as const satisfies (keyof HostApi)[];

/** How a process ended, and the last lines it wrote to standard error. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly lastLines: readonly string[];
}

/** Who hears a generation: its module, once it has one. */
export interface GenerationOwner {
  readonly api: Handlers<HostApi>;
  /** A line that the process wrote to standard output or standard error. */
  printed(line: string): void;
}

/** One child process with its channel. It is the spare until a module owns it. */
export class Generation {
  readonly peer: Peer<PluginApi, HostApi>;
  /** Settles when the process has ended, however it ended. */
  readonly exited: Promise<Exit>;
  readonly memoryMiB: number;
  readonly #child: ChildProcess;
  readonly #lastLines: string[] = [];
  #owner: GenerationOwner | undefined;

  private constructor(child: ChildProcess, memoryMiB: number) {
    this.#child = child;
    this.memoryMiB = memoryMiB;
    this.#readLines(child);
    child.once("exit", () => endGroup(this.pid)); // before "close", which waits for its children
    this.exited = new Promise((resolve) => {
      child.once("error", () => resolve({ code: null, signal: null, lastLines: this.#lastLines }));
      child.once("close", (code, signal) => resolve({ code, signal, lastLines: this.#lastLines }));
    });
    this.peer = new Peer<PluginApi, HostApi>(
      {
        send: (message) => {
          if (child.connected) child.send(message, () => undefined); // its end is heard by `exited`
        },
        onMessage: (receive) => child.on("message", receive),
      },
      this.#forwardToOwner(),
    );
    void this.exited.then(() => {
      const told =
        "the process ended before it answered; whether this was carried out is not known";
      this.peer.close(new MantelError("outcome_unknown", told));
    });
  }

  /** Starts a process from the compiled runtime, with an environment that holds nothing of the host's. */
  static fork(runtime: string, memoryMiB: number): Generation {
    const child = fork(runtime, [], {
      detached: true, // a process group of its own, so that what it starts ends with it
      serialization: "json",
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      env: cleanEnvironment(),
      execArgv: [`--max-old-space-size=${memoryMiB}`, "--max-semi-space-size=2"],
    });
    return new Generation(child, memoryMiB);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** From now on `owner` answers the process's calls. */
  ownedBy(owner: GenerationOwner): void {
    this.#owner = owner;
  }

  /** Ends the process and all it has started, at once, and waits until it is gone. */
  async terminate(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill("SIGKILL");
      endGroup(this.pid);
    }
    await this.exited;
  }

  #forwardToOwner(): Handlers<HostApi> {
    const forward = (method: keyof HostApi) => (input: never, begin: Begin) => {
      if (!this.#owner) throw new MantelError("module_down", "the process belongs to no module");
      return (this.#owner.api[method] as (input: never, begin: Begin) => unknown)(input, begin);
    };
    return Object.fromEntries(
      METHODS.map((method) => [method, forward(method)]),
    ) as unknown as Handlers<HostApi>;
  }

  #readLines({ stdout, stderr }: ChildProcess): void {
    for (const stream of [stdout, stderr]) {
      if (!stream) continue;
      createInterface({ input: stream }).on("line", (line) => {
        if (stream === stderr) this.#remember(line);
        this.#owner?.printed(line);
      });
    }
  }

  #remember(line: string): void {
    this.#lastLines.push(line);
    if (this.#lastLines.length > TAIL_LINES) this.#lastLines.shift();
  }
}

/** Ends a process and all it has started. */
function endGroup(pid: number): void {
  try {
    if (pid > 0) process.kill(-pid, "SIGKILL");
  } catch {
    // ESRCH: none of them is left
  }
}

const PASSED_ON = ["PATH", "LANG", "LC_ALL", "TZ", "NODE_EXTRA_CA_CERTS", "NODE_V8_COVERAGE"];

function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    PASSED_ON.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Why a process ended, for people. */
export function causeOf({ code, signal, lastLines }: Exit): string {
  if (lastLines.some((line) => line.includes("heap out of memory"))) {
    return "it used up the memory of its heap limit";
  }
  const error = lastLines.find((line) => /^(\w*Error|Uncaught)\b.*/.test(line.trim()));
  if (error !== undefined) return `it crashed: ${error.trim()}`;
  return signal === null ? `it exited with code ${code}` : `it was ended by ${signal}`;
}
