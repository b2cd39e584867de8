import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { Duplex, Readable } from "node:stream";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { HostApi, PluginApi } from "@mantel/plugin-sdk/protocol";
import { type Begin, type Handlers, Peer } from "@mantel/plugin-sdk/rpc";
import type { Exit } from "./cause.ts";
import { type Channel, openChannel } from "./channel.ts";
import { Output } from "./output.ts";
import { endStrays } from "./strays.ts";

/** What a process has started and let go of may hold its pipes; nobody waits for that. */
const LAST_WORDS_MS = 500;
/** Calls of one process that the host carries out at once. */
const CALLS_AT_ONCE = 200;
/** All that a process may call; the type names every one, so that none is left out. */
const METHODS: Readonly<Record<keyof HostApi, true>> = {
  publishDevices: true,
  updateDevices: true,
  announceDeviceEvent: true,
  publishScenes: true,
  publish: true,
  publishCalendarPart: true,
  callService: true,
  reportDegraded: true,
  showStep: true,
  log: true,
};

/** Who hears a generation: its module, once it has one. */
export interface GenerationOwner {
  readonly api: Handlers<HostApi>;
  /** A line that the process wrote to standard output, or to standard error as a warning. */
  printed(line: string, level: "info" | "warn"): void;
}

/** How a process is started. */
export interface ProcessSettings {
  /** Its heap. */
  readonly memoryMiB: number;
  /** Share of one CPU over half a minute, in percent. It may be used up at any pace within that. */
  readonly cpuPercent: number;
  /** Whether it may start programs. */
  readonly childProcesses: boolean;
  /** Its working folder. */
  readonly folder: string;
  /** What Node is told besides: what the process may reach. */
  readonly flags: readonly string[];
}

/** One child process with its channel. It is the spare until a module owns it. */
export class Generation {
  readonly peer: Peer<PluginApi, HostApi>;
  /** Settles when the process has ended, however it ended. */
  readonly exited: Promise<Exit>;
  readonly settings: ProcessSettings;
  /** Where a debugger may attach while it works; one that is paused in it is no fault of the code. */
  readonly inspectPort: number | undefined;
  readonly #child: ChildProcess;
  /** What the environment of the process holds, and that of all it starts. */
  readonly #mark: string;
  readonly #channel: Channel;
  readonly #output: Output;
  readonly #errors: Output;
  #owner: GenerationOwner | undefined;
  #underWay = 0;
  #ended: Exit["ended"];

  private constructor(
    { child, mark }: { child: ChildProcess; mark: string },
    settings: ProcessSettings,
    inspectPort?: number,
  ) {
    this.#child = child;
    this.#mark = mark;
    this.settings = settings;
    const [, output, errors, channel] = child.stdio as unknown as [
      null,
      Readable,
      Readable,
      Duplex,
    ];
    this.inspectPort = inspectPort;
    this.#output = new Output(output, (line) => this.#owner?.printed(line, "info"));
    this.#errors = new Output(errors, (line) => this.#owner?.printed(line, "warn"));
    this.#channel = openChannel(channel, (cause, since) => void this.end(cause, since));
    this.peer = new Peer<PluginApi, HostApi>(this.#channel, this.#forwardToOwner());
    this.exited = this.#exit();
    void this.exited.then(() => {
      const told =
        "the process ended before it answered; whether this was carried out is not known";
      this.peer.close(new MantelError("outcome_unknown", told));
    });
  }

  /** Starts a process from the compiled runtime, with an environment that holds nothing of the host's. */
  static fork(runtime: string, settings: ProcessSettings, inspectPort?: number): Generation {
    const heap = [`--max-old-space-size=${settings.memoryMiB}`, "--max-semi-space-size=2"];
    const id = randomUUID();
    const child = spawn(process.execPath, [...heap, ...settings.flags, runtime], {
      cwd: settings.folder,
      detached: true, // a process group of its own, so that what it starts ends with it
      stdio: ["ignore", "pipe", "pipe", "pipe"], // the last is the channel
      env: { ...cleanEnvironment(), [MARK]: id },
    });
    return new Generation({ child, mark: `${MARK}=${id}` }, settings, inspectPort);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** From now on `owner` answers the process's calls. */
  ownedBy(owner: GenerationOwner): void {
    this.#owner = owner;
  }

  /** True while the process sends more than the host reads. */
  get isFlooding(): boolean {
    return this.#channel.isHeldBack;
  }

  /** True while the process prints more than the host reads, so that it is kept waiting. */
  get isPrinting(): boolean {
    return this.#output.isHeldBack || this.#errors.isHeldBack;
  }

  /** Ends the process for a fault that the host found; `since` is when it began (monotonic, in ms). */
  async end(cause: string, since = performance.now()): Promise<void> {
    this.#ended ??= { cause, since };
    await this.terminate();
  }

  /** Ends the process and all it has started, at once, and waits until it is gone. */
  async terminate(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill("SIGKILL");
      endGroup(this.pid);
    }
    await this.exited;
  }

  #exit(): Promise<Exit> {
    const child = this.#child;
    return new Promise((resolve) => {
      const tell = (code: number | null, signal: NodeJS.Signals | null): void => {
        const ended = this.#ended ? { ended: this.#ended } : {};
        const { lastLines } = this.#errors;
        resolve({ code, signal, lastLines, isFlooding: this.isFlooding, ...ended });
      };
      child.once("error", () => tell(null, null));
      child.once("exit", (code, signal) => {
        endGroup(this.pid); // before "close", which waits for its children
        if (this.settings.childProcesses) endStrays(this.#mark);
        for (const stream of [this.#output, this.#errors, this.#channel]) stream.finish();
        const late = setTimeout(() => this.#closeStreams(), LAST_WORDS_MS);
        child.once("close", () => {
          clearTimeout(late);
          tell(code, signal);
        });
      });
    });
  }

  #closeStreams(): void {
    for (const stream of this.#child.stdio) stream?.destroy();
  }

  #forwardToOwner(): Handlers<HostApi> {
    const forward = (method: keyof HostApi) => async (input: never, begin: Begin) => {
      if (!this.#owner) throw new MantelError("module_down", "the process belongs to no module");
      if (this.#underWay >= CALLS_AT_ONCE) {
        throw new MantelError("module_down", `${CALLS_AT_ONCE} calls are under way already`);
      }
      this.#underWay++;
      try {
        return await (this.#owner.api[method] as (input: never, begin: Begin) => unknown)(
          input,
          begin,
        );
      } finally {
        this.#underWay--;
      }
    };
    return Object.fromEntries(
      Object.keys(METHODS).map((method) => [method, forward(method as keyof HostApi)]),
    ) as unknown as Handlers<HostApi>;
  }
}

/** Ends a process and all it has started. */
export function endGroup(pid: number): void {
  try {
    if (pid > 0) process.kill(-pid, "SIGKILL");
  } catch {
    // ESRCH: none of them is left
  }
}

const MARK = "MANTEL_GENERATION";
const PASSED_ON = ["PATH", "LANG", "LC_ALL", "TZ", "NODE_EXTRA_CA_CERTS", "NODE_V8_COVERAGE"];

function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    PASSED_ON.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
