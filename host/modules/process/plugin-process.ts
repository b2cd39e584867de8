import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { dirname } from "node:path";
import type { Duplex, Readable } from "node:stream";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { HostApi, Network, NetworkApi, PluginApi } from "@mantel/plugin-sdk/protocol";
import { type Handlers, Peer } from "@mantel/plugin-sdk/rpc";
import { machineTimeZone } from "../../time-zone.ts";
import { type Channel, openChannel } from "./channel.ts";
import type { Exit } from "./exit-reason.ts";
import { ForwardedCalls } from "./forwarded-calls.ts";
import { killGroup, killProcessesWithMark } from "./leftover-processes.ts";
import { learnHosts } from "./network/learn-hosts.ts";
import { NetworkProxy } from "./network/network-proxy.ts";
import { Output } from "./output.ts";
import type { SandboxContents } from "./sandbox/bubblewrap.ts";
import type { CgroupLimits } from "./sandbox/cgroup.ts";
import type { Kernel, Launch } from "./sandbox/kernel.ts";
import { SandboxProcess, signalOfExitCode } from "./sandbox/sandbox-process.ts";

/** The wait for pipes that detached child processes of the process may hold open. */
const LAST_WORDS_MS = 500;
/** Memory of a process besides its heap: Node itself, code and buffers. */
export const NON_HEAP_MEMORY_MIB = 128;
/**
 * Room above the limit that the host watches, so that the host kills first: its message says more than the
 * kernel's.
 */
const CGROUP_ROOM_MIB = 128;
/** Processes and threads of one plugin together; Node itself has about a dozen. */
const CGROUP_TASKS = 512;
/** The most CPU that a plugin gets at a time, even within its share: two CPUs. */
const CGROUP_CPU_PERCENT = 200;
/** The timeout for notifications to a process that does not answer. */
const LOST_MS = 2_000;

/** The owner of a process: its module, once it has one. */
export interface PluginProcessOwner {
  readonly api: Handlers<HostApi>;
  /** A line that the process wrote to standard output, or to standard error as a warning. */
  printed(line: string, level: "info" | "warn"): void;
  /** A host that the process connects to or looks up, and the option or service that it came from. */
  reached?(host: string, origin: string | undefined): void;
}

/** The settings of a process. */
export interface ProcessSettings {
  /** The size of its heap. */
  readonly memoryMiB: number;
  /** Share of one CPU over half a minute, in percent. Within that time it may be used at any pace. */
  readonly cpuPercent: number;
  /** True if it may start programs. */
  readonly childProcesses: boolean;
  /** Its working folder. */
  readonly folder: string;
  /** Further flags for Node: what the process may access. */
  readonly flags: readonly string[];
  /** The files and programs in its sandbox, where the kernel confines it. */
  readonly sandbox: SandboxContents;
  readonly network: Network;
  /** The hosts that its manifest declares. */
  readonly hosts: readonly string[];
}

interface Spawned {
  readonly child: ChildProcess;
  /** A mark in the environment of the process and its child processes. */
  readonly mark: string;
  readonly launch: Launch | undefined;
  readonly proxy: NetworkProxy | undefined;
}

/** One child process with its channel. It is a warm process until a module owns it. */
export class PluginProcess {
  readonly peer: Peer<PluginApi, HostApi & NetworkApi>;
  /** Settles when the process has ended, however it ended. */
  readonly exited: Promise<Exit>;
  readonly settings: ProcessSettings;
  /** The debugger port. A process that a debugger has paused does not count as hung. */
  readonly inspectPort: number | undefined;
  readonly #child: ChildProcess;
  readonly #launch: Launch | undefined;
  /** The process inside its sandbox; `undefined` without a sandbox. */
  readonly #sandboxed: SandboxProcess | undefined;
  /** A mark in the environment of the process and its child processes. */
  readonly #mark: string;
  readonly #channel: Channel;
  readonly #output: Output;
  readonly #errors: Output;
  readonly #calls: ForwardedCalls;
  #owner: PluginProcessOwner | undefined;
  #ended: Exit["ended"];

  private constructor(
    { child, mark, launch, proxy }: Spawned,
    settings: ProcessSettings,
    inspectPort?: number,
  ) {
    this.#child = child;
    this.#mark = mark;
    this.#launch = launch;
    this.#sandboxed = launch && new SandboxProcess(child);
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
    this.#channel = openChannel(channel, {
      end: (cause, since) => void this.end(cause, since),
      isBusy: () => this.#calls.mustWait,
    });
    const transport = proxy ? learnHosts(this.#channel, proxy.hosts) : this.#channel;
    this.#calls = new ForwardedCalls({
      ownerApi: () => this.#owner?.api,
      onServiceAnswer: (input, answer) => proxy?.learnFrom(input, answer),
    });
    const handlers = { ...this.#calls.handlers, ...(proxy?.api ?? NOT_PROXIED) };
    this.peer = new Peer<PluginApi, HostApi & NetworkApi>(transport, handlers, {
      keepsStacks: true,
    });
    proxy?.onLost((connection, failure) =>
      this.peer.call("connectionLost", { connection, failure }, LOST_MS),
    );
    proxy?.onReached((host) => this.#owner?.reached?.(host, proxy.hosts.originOf(host)));
    this.exited = this.#exit();
    void this.exited.then(() => {
      proxy?.close();
      const message = "the process ended before it answered; the outcome of this call is unknown";
      this.peer.close(new MantelError("outcome_unknown", message));
    });
  }

  /**
   * Starts a process from the compiled runtime, confined by the kernel where that is possible, with an
   * environment that contains nothing of the host's.
   */
  static fork(
    runtime: string,
    settings: ProcessSettings,
    kernel: Kernel,
    inspectPort?: number,
  ): PluginProcess {
    const heap = [`--max-old-space-size=${settings.memoryMiB}`, "--max-semi-space-size=2"];
    const command = [process.execPath, ...heap, ...settings.flags, runtime];
    const { sandbox, network, hosts } = settings;
    const proxy = network === "proxied" ? new NetworkProxy(hosts) : undefined;
    const readable = [...sandbox.readable, dirname(runtime), ...(proxy ? [proxy.folder] : [])];
    const confined = { ...settings, sandbox: { ...sandbox, readable } };
    try {
      const spawned = spawnConfined(command, confined, kernel);
      return new PluginProcess({ ...spawned, proxy }, settings, inspectPort);
    } catch (error) {
      proxy?.close();
      throw error;
    }
  }

  /** The id of the process on this machine; 0 until it is known. */
  get pid(): number {
    return (this.#sandboxed ? this.#sandboxed.pid : this.#child.pid) ?? 0;
  }

  /** Lets `owner` answer the process's calls from now on. */
  ownedBy(owner: PluginProcessOwner): void {
    this.#owner = owner;
  }

  /** True while the process sends more than the host reads. */
  get isFlooding(): boolean {
    return this.#channel.isHeldBack;
  }

  /** True while messages of the process wait for the host to read them. */
  get hasUnread(): boolean {
    return this.#channel.hasUnread;
  }

  /** True while the process prints more than the host reads, so that it is blocked. */
  get isPrinting(): boolean {
    return this.#output.isHeldBack || this.#errors.isHeldBack;
  }

  /** Kills the process for a fault that the host detected; `since` is when it began (monotonic, in ms). */
  async end(cause: string, since = performance.now()): Promise<void> {
    this.#ended ??= { cause, since };
    await this.terminate();
  }

  /** Kills the process and its child processes immediately, and waits until they have ended. */
  async terminate(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      if (this.#sandboxed) this.#sandboxed.kill();
      else {
        this.#child.kill("SIGKILL");
        killGroup(this.pid);
      }
    }
    await this.exited;
  }

  #exit(): Promise<Exit> {
    const child = this.#child;
    return new Promise((resolve) => {
      const tell = (code: number | null, signal: NodeJS.Signals | null): void => {
        const isOutOfMemory = this.#launch?.cgroup?.wasOutOfMemory ?? false;
        void this.#launch?.cgroup?.remove();
        const ended = this.#ended ? { ended: this.#ended } : {};
        const { lastLines } = this.#errors;
        const { isFlooding } = this;
        resolve({ ...this.#exitOf(code, signal), lastLines, isFlooding, isOutOfMemory, ...ended });
      };
      child.once("error", () => tell(null, null));
      child.once("exit", (code, signal) => {
        if (!this.#sandboxed) this.#killLeftoverProcesses(); // before "close", which waits for its children
        const streams = [this.#output, this.#errors, this.#channel];
        for (const stream of streams) void stream.finish();
        const late = setTimeout(() => this.#closeStreams(), LAST_WORDS_MS);
        child.once("close", () => {
          clearTimeout(late);
          void Promise.all(streams.map((each) => each.finish())).then(() => tell(code, signal));
        });
      });
    });
  }

  /** A sandbox ends with all its processes, and passes on how the plugin's process ended. */
  #exitOf(code: number | null, signal: NodeJS.Signals | null): Pick<Exit, "code" | "signal"> {
    const inside = this.#sandboxed && code !== null ? signalOfExitCode(code) : undefined;
    return inside === undefined ? { code, signal } : { code: null, signal: inside };
  }

  #killLeftoverProcesses(): void {
    killGroup(this.pid);
    if (this.settings.childProcesses) killProcessesWithMark(this.#mark);
  }

  #closeStreams(): void {
    for (const stream of this.#child.stdio) stream?.destroy();
  }
}

/** Spawns a command, confined by the kernel where that is possible. */
function spawnConfined(
  command: readonly string[],
  settings: ProcessSettings,
  kernel: Kernel,
): Omit<Spawned, "proxy"> {
  const launch = kernel.launch(command, settings.sandbox, cgroupLimits(settings));
  const id = randomUUID();
  try {
    const child = spawn(
      launch?.program ?? process.execPath,
      launch?.arguments ?? command.slice(1),
      {
        cwd: settings.folder,
        detached: true, // its own process group, so that its child processes end with it
        stdio: ["ignore", "pipe", "pipe", "pipe", ...(launch?.stdio ?? [])], // the fourth is the channel
        env: { ...cleanEnvironment(settings), [MARK]: id },
      },
    );
    return { child, launch, mark: `${MARK}=${id}` };
  } catch (error) {
    void launch?.cgroup?.remove();
    throw error;
  } finally {
    launch?.release();
  }
}

function cgroupLimits({ memoryMiB, cpuPercent }: ProcessSettings): CgroupLimits {
  return {
    memoryBytes: (memoryMiB + NON_HEAP_MEMORY_MIB + CGROUP_ROOM_MIB) * 2 ** 20,
    tasks: CGROUP_TASKS,
    cpuPercent: Math.max(CGROUP_CPU_PERCENT, cpuPercent),
  };
}

const notProxied = (): never => {
  throw new MantelError("invalid", "the network of this process does not go through the host");
};
const NOT_PROXIED: Handlers<NetworkApi> = {
  lookUp: notProxied,
  openConnection: notProxied,
  closeConnection: notProxied,
};

const MARK = "MANTEL_GENERATION";
const PASSED_ON = ["PATH", "LANG", "LC_ALL"];
/** Node parses all root certificates at its start if this is set, so a process without a network does not get it. */
const CERTIFICATES = "NODE_EXTRA_CA_CERTS";

/** glibc's allocator, as in host/start.sh: one pool for all threads, and freed blocks go back to the system. */
const ALLOCATOR = {
  MALLOC_ARENA_MAX: "1",
  MALLOC_MMAP_THRESHOLD_: "131072",
  MALLOC_TRIM_THRESHOLD_: "131072",
};

/**
 * A clean environment. It has the time zone, because a sandbox has no `/etc/localtime`; temporary files go to
 * `folder`.
 */
function cleanEnvironment({ folder, network }: ProcessSettings): NodeJS.ProcessEnv {
  const names = network === "none" ? PASSED_ON : [...PASSED_ON, CERTIFICATES];
  const passedOn = names.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  const own = { ...ALLOCATOR, TZ: process.env["TZ"] ?? machineTimeZone(), TMPDIR: folder };
  return { ...Object.fromEntries(passedOn), ...own };
}
