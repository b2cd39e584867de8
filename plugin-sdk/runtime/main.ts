// The entry of a plugin's process. It is a warm process until the host asks it to load a plugin.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { format } from "node:util";
import { MantelError } from "../errors.ts";
import type { Plugin } from "../plugin.ts";
import {
  CHANNEL_CLOSED,
  type HostApi,
  type LogLevel,
  type NetworkApi,
  type PluginApi,
  type PrepareRequest,
  UNCAUGHT_REJECTION,
} from "../protocol.ts";
import { Peer } from "../rpc/peer.ts";
import { openChannel } from "./channel.ts";
import { declaredChannels } from "./channels.ts";
import type { Require } from "./compiled-code.ts";
import { explainFailure } from "./explain-failure.ts";
import { type Guard, guard } from "./guard.ts";
import type { HostLink } from "./host-link.ts";
import { IdleCollector } from "./idle-collector.ts";
import { closeInspector, openInspector } from "./inspector.ts";
import { findLeaks, watchLeaks } from "./leak-detector.ts";
import { imported, loadPackages, loadPlugin } from "./load.ts";
import { createLog } from "./log.ts";
import { exitAtOnce, sendSignal, startInterval, writeNow } from "./primordials.ts";
import { Runner } from "./runner.ts";
import { refuseStorage } from "./storage.ts";
import { trialsOf, TrialRunner } from "./trial-runner.ts";

/** For `start.ts`. */
export { imported as sdk };

/** The host enforces its own deadlines; this one only prevents a leak when an answer is lost. */
const HOST_DEADLINE_MS = 90_000;

/** A process without work after this time is a warm process and can preload modules. */
const SPARE_AFTER_MS = 25;

/**
 * The histogram measures from sample to sample, so an idle event loop shows exactly this value. Each sample wakes the
 * process: at 10 ms an idle one used 0.5 % of a core, at 50 ms 0.14 %.
 */
const LAG_STEP_MS = 50;

const STANDARD_ERROR = 2;
const SIGKILL = 9;
/** ESRCH (errno(3)), as libuv gives it. */
const NO_SUCH_PROCESS = -3;
const HOST_CHECK_MS = 1_000;
/** The longest wait, after a start, for answers to calls of the plugin that the host answers by itself. */
const QUIET_MS = 50;
/** These calls. A service or a connection takes as long as another module, a program or a server needs. */
const ANSWERED_BY_HOST = [
  "followChannel",
  "publish",
  "publishCalendarPart",
  "publishChannel",
  "publishDevices",
  "publishScenes",
] as const;
const HOST_PID = process.ppid;
const OWN_PID = process.pid;

const lag = monitorEventLoopDelay({ resolution: LAG_STEP_MS });
lag.enable();

let stands: Guard | undefined;
let packages: Require | undefined;
let plugin: { id: string; code: Plugin; guard: Guard } | undefined;
let runner: Runner | undefined;
/** A runner that is connecting or connected and not started yet. */
let next: Runner | undefined;
let trial: TrialRunner | undefined;

const peer = new Peer<HostApi & NetworkApi, PluginApi>(openChannel(endWithChildren), {
  prepare: (request) => void prepare(request),
  async load(request) {
    clearTimeout(warmingUp);
    process.title = `mantel ${request.id}`;
    try {
      const { stands: guarding, packages: require } = prepare(request);
      const code = await loadPlugin(request.bundle, require);
      plugin = { id: request.id, guard: guarding, code };
    } catch (error) {
      throw explainFailure(error, stands?.lastDenial());
    }
    const { options, state } = plugin.code;
    const channels = declaredChannels(plugin.code.channels);
    return { options, state, trials: trialsOf(plugin.code), channels };
  },
  async connect(request) {
    const { id, code, guard: guarding } = loaded();
    guarding.learnFromConfig(request.config);
    next = new Runner(code, host());
    try {
      await next.connect(id, request);
    } catch (error) {
      next = undefined; // `start` connects again
      throw explainFailure(error, stands?.lastDenial());
    }
  },
  async start(request) {
    const { id, code, guard: guarding } = loaded();
    guarding.learnFromConfig(request.config);
    runner = next ?? new Runner(code, host()); // a new runner each time, because a rolled-back generation starts again
    next = undefined;
    if (request.inspectPort !== undefined) await openInspector(request.inspectPort);
    try {
      const result = await runner.start(id, request);
      await peer.quiet(ANSWERED_BY_HOST, QUIET_MS); // code that fails right after its start receives no calls
      return result;
    } catch (error) {
      closeInspector(); // the previous generation is about to start again
      throw explainFailure(error, stands?.lastDenial());
    }
  },
  command: (request, begin) => started().command(request, begin),
  activateScene: (request, begin) => started().activateScene(request, begin),
  image: (request, begin) => started().image(request, begin),
  nextFrame: (request) => started().nextFrame(request),
  video: (request, begin) => started().video(request, begin),
  callService: (request, begin) => started().callService(request, begin),
  answerRoute: (request, begin) => started().answerRoute(request, begin),
  channelChanged: (change) => (next ?? runner)?.channelChanged(change),
  sourceChanged: (change) => (next ?? runner)?.sourceChanged(change),
  runSchedule: (request) => started().runSchedule(request),
  settingsChanged: (settings) => ({ isFollowed: started().settingsChanged(settings) }),
  homeChanged: (batch) => started().homeChanged(batch),
  quiesce: (request) => started().quiesce(request).finally(closeInspector),
  findLeaks,
  connectionLost: ({ connection, failure }) => stands?.connectionLost(connection, failure),
  test: (request) => beginTrial().test(request),
  setup: (request) => beginTrial().setup(request),
  answer(request) {
    if (!trial) throw new MantelError("module_down", "no setup has begun");
    trial.answer(request);
  },
  refuseStorage: ({ reason }) => refuseStorage(reason),
  ping() {
    const { user, system } = process.cpuUsage();
    const loopLagP99Ms = Math.max(0, lag.percentile(99) / 1e6 - LAG_STEP_MS);
    lag.reset();
    return {
      cpuMicros: user + system,
      heapBytes: process.memoryUsage().heapUsed,
      loopLagP99Ms: Number.isFinite(loopLagP99Ms) ? loopLagP99Ms : 0,
      mayRest: runner?.mayRest ?? false,
    };
  },
});

const warmingUp = setTimeout(warmUp, SPARE_AFTER_MS);
captureConsole();
process.setSourceMapsEnabled(true); // for plugins; this file's own map would take longer to read than its code
process.on("uncaughtExceptionMonitor", (_, origin) => {
  if (origin === "unhandledRejection") writeNow(STANDARD_ERROR, `${UNCAUGHT_REJECTION}\n`);
});
process.on("SIGUSR1", () => undefined); // prevents Node from opening a debugger
startInterval(endWithoutHost, HOST_CHECK_MS).unref();
new IdleCollector(() => peer.isAnswering).start(startInterval);
process.on("SIGINT", () => undefined); // Ctrl-C reaches the whole process group; the host ends this process

/** Installs the guard and loads the packages. Runs once, because all requests to one process contain the same data. */
function prepare(request: PrepareRequest): { stands: Guard; packages: Require } {
  if (!stands) {
    watchLeaks();
    stands = guard(request, (sentence) => createLog(host()).warn(sentence), peer);
  }
  packages ??= loadPackages(request);
  return { stands, packages };
}

function host(): HostLink {
  return {
    async call(method, input) {
      const asked = new Error("asked"); // captures the caller's stack; the answer arrives without it
      const answer = await peer
        .call(method, input as never, HOST_DEADLINE_MS)
        .catch((error: unknown) => fail(error, asked));
      if (method === "callService")
        plugin?.guard.learnFromService((input as { name: string }).name, answer);
      return answer as never;
    },
    notify: (method, input) => peer.notify(method, input as never),
  };
}

/** The stack of an error can be replaced, and is not listed. */
const STACK = { writable: true, configurable: true, enumerable: false };

/**
 * Throws the host's error with the stack of the call that failed. The stack is made when it is read: many plugins try
 * again after an error, and source maps take tens of milliseconds.
 */
function fail(error: unknown, asked: Error): never {
  if (error instanceof Error) {
    const { name, message } = error;
    const read = () => {
      const { stack = "" } = asked;
      return `${name}: ${message}${stack.slice(stack.indexOf("\n    at "))}`;
    };
    const write = (value: string) => Object.defineProperty(error, "stack", { value, ...STACK });
    Object.defineProperty(error, "stack", { get: read, set: write, configurable: true });
  }
  throw error;
}

function loaded(): NonNullable<typeof plugin> {
  if (!plugin) throw new MantelError("module_down", "no plugin is loaded yet");
  return plugin;
}

function beginTrial(): TrialRunner {
  return (trial = new TrialRunner(loaded(), host()));
}

function started(): Runner {
  if (!runner) throw new MantelError("module_down", "no plugin has been started yet");
  return runner;
}

/** Ends this process and its child processes after the host has ended. */
function endWithChildren(): void {
  try {
    writeNow(STANDARD_ERROR, `${CHANNEL_CLOSED}\n`); // for a host that still runs: the plugin may have closed the channel
  } catch {
    // EPIPE: the host has ended
  }
  sendSignal(-OWN_PID, SIGKILL);
  sendSignal(OWN_PID, SIGKILL); // in a sandbox it is not a group leader
  exitAtOnce(1); // the first process of a sandbox cannot be killed from within
}

/** Checks the host by its pid, because the plugin's code may have closed the channel or replaced its event handlers. */
function endWithoutHost(): void {
  if (sendSignal(HOST_PID, 0) === NO_SUCH_PROCESS) endWithChildren();
}

/** Preloads modules that most plugins need, while the process is idle. */
function warmUp(): void {
  for (const name of ["net", "tls", "http", "https", "crypto", "stream", "url", "zlib", "dns"]) {
    process.getBuiltinModule(`node:${name}`);
  }
}

/** Redirects the plugin's console output to its log. */
function captureConsole(): void {
  const log = createLog(host());
  const levels: Partial<Record<keyof Console, LogLevel>> = {
    debug: "debug",
    log: "info",
    info: "info",
    warn: "warn",
    error: "error",
  };
  for (const [name, level] of Object.entries(levels)) {
    Object.assign(console, { [name]: (...parts: unknown[]) => log[level](format(...parts)) });
  }
}
