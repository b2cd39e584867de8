// The entry of a plugin's process. It waits as the spare until the host asks it to load a plugin.
import { writeSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { format } from "node:util";
import { MantelError } from "../errors.ts";
import type { Plugin } from "../plugin.ts";
import {
  CHANNEL_CLOSED,
  type HostApi,
  type LogLevel,
  type PluginApi,
  type PrepareRequest,
  UNCAUGHT_REJECTION,
} from "../protocol.ts";
import { Peer } from "../rpc/peer.ts";
import { openChannel } from "./channel.ts";
import type { Require } from "./compiled-code.ts";
import { type Guard, guard } from "./guard.ts";
import type { HostLink } from "./host-link.ts";
import { closeInspector, openInspector } from "./inspector.ts";
import { findLeftovers, watchLeftovers } from "./leftovers.ts";
import { loadPackages, loadPlugin } from "./load.ts";
import { createLog } from "./log.ts";
import { Runner } from "./runner.ts";
import { trialsOf, TrialRunner } from "./trial-runner.ts";

/** The host has deadlines of its own for what it does; this one only keeps a lost answer from leaking. */
const HOST_DEADLINE_MS = 30_000;

/** A process that has no work after this long is the spare, and has time to prepare. */
const SPARE_AFTER_MS = 25;

/** The histogram counts from one sampling to the next, so an idle loop shows the step itself. */
const LAG_STEP_MS = 10;

const STANDARD_ERROR = 2;

const lag = monitorEventLoopDelay({ resolution: LAG_STEP_MS });
lag.enable();

let stands: Guard | undefined;
let packages: Require | undefined;
let plugin: { id: string; code: Plugin; guard: Guard } | undefined;
let runner: Runner | undefined;
/** One that opens its connections, or has, and waits for its start. */
let next: Runner | undefined;
let trial: TrialRunner | undefined;

const peer = new Peer<HostApi, PluginApi>(openChannel(endWithChildren), {
  prepare: (request) => void prepare(request),
  load(request) {
    clearTimeout(warmingUp);
    process.title = `mantel ${request.id}`;
    const { stands: guarding, packages: require } = prepare(request);
    plugin = { id: request.id, guard: guarding, code: loadPlugin(request.bundle, require) };
    const { options, state } = plugin.code;
    return { options, state, trials: trialsOf(plugin.code) };
  },
  async connect(request) {
    const { id, code, guard: guarding } = loaded();
    guarding.configured(request.config);
    next = new Runner(code, host());
    try {
      await next.connect(id, request);
    } catch (error) {
      next = undefined; // the start tries again
      throw error;
    }
  },
  async start(request) {
    const { id, code, guard: guarding } = loaded();
    guarding.configured(request.config);
    runner = next ?? new Runner(code, host()); // a new one each time: a rolled-back start begins again
    next = undefined;
    if (request.inspectPort !== undefined) await openInspector(request.inspectPort);
    try {
      await runner.start(id, request);
    } catch (error) {
      closeInspector(); // the generation before is about to start again
      throw error;
    }
  },
  command: (request, begin) => started().command(request, begin),
  activateScene: (request, begin) => started().activateScene(request, begin),
  callService: (request, begin) => started().callService(request, begin),
  quiesce: (request) => started().quiesce(request).finally(closeInspector),
  findLeftovers,
  test: (request) => beginTrial().test(request),
  setup: (request) => beginTrial().setup(request),
  answer(request) {
    if (!trial) throw new MantelError("module_down", "no setup has begun");
    trial.answer(request);
  },
  ping() {
    const { user, system } = process.cpuUsage();
    const loopLagP99Ms = Math.max(0, lag.percentile(99) / 1e6 - LAG_STEP_MS);
    lag.reset();
    return {
      cpuMicros: user + system,
      heapBytes: process.memoryUsage().heapUsed,
      loopLagP99Ms: Number.isFinite(loopLagP99Ms) ? loopLagP99Ms : 0,
    };
  },
});

const warmingUp = setTimeout(warmUp, SPARE_AFTER_MS);
captureConsole();
process.setSourceMapsEnabled(true); // of plugins; reading the map of this file itself takes longer than its code
process.on("uncaughtExceptionMonitor", (_, origin) => {
  if (origin === "unhandledRejection") writeSync(STANDARD_ERROR, `${UNCAUGHT_REJECTION}\n`);
});
process.on("SIGINT", () => undefined); // Ctrl-C reaches the whole group; the host says when to end

/** Done once: the requests that come to one process ask for the same. */
function prepare(request: PrepareRequest): { stands: Guard; packages: Require } {
  if (!stands) {
    watchLeftovers();
    stands = guard(request, (sentence) => createLog(host()).warn(sentence));
  }
  packages ??= loadPackages(request);
  return { stands, packages };
}

function host(): HostLink {
  return {
    async call(method, input) {
      const asked = new Error("asked"); // an answer comes from the event loop, where nobody has asked
      const answer = await peer
        .call(method, input as never, HOST_DEADLINE_MS)
        .catch((error: unknown) => fail(error, asked));
      if (method === "callService")
        plugin?.guard.answered((input as { name: string }).name, answer);
      return answer as never;
    },
    notify: (method, input) => peer.notify(method, input as never),
  };
}

/** Throws what the host refused a call with, as of the place that made the call. */
function fail(error: unknown, { stack = "" }: Error): never {
  const frames = stack.slice(stack.indexOf("\n    at "));
  if (error instanceof Error) error.stack = `${error.name}: ${error.message}${frames}`;
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

/** The host is gone, and so is the reason to be here, for this process and those it has started. */
function endWithChildren(): void {
  try {
    writeSync(STANDARD_ERROR, `${CHANNEL_CLOSED}\n`); // the plugin's own code may have closed it
  } catch {
    // EPIPE: the host is gone indeed
  }
  process.kill(-process.pid, "SIGKILL");
}

/** Loads what most plugins need while nobody waits for this process. */
function warmUp(): void {
  for (const name of ["net", "tls", "http", "https", "crypto", "stream", "url", "zlib", "dns"]) {
    process.getBuiltinModule(`node:${name}`);
  }
}

/** What a plugin prints becomes records of its log. */
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
