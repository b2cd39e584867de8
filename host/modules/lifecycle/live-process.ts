import { MantelError } from "@mantel/plugin-sdk/errors";
import type { PluginApi } from "@mantel/plugin-sdk/protocol";
import type { RouteDefinition } from "@mantel/plugin-sdk/route";
import type { ModuleFault, ModuleView } from "../../api/module.ts";
import type { ConfigStore } from "../../config/store.ts";
import type { ReadyAnswer } from "../../routes/answer-file.ts";
import type { RouteInput } from "../../routes/raw-body.ts";
import type { ServiceDefinitions } from "../../services/definitions.ts";
import type { ServiceCall } from "../../services/registry.ts";
import { sourcesOf } from "../build/built-sources.ts";
import { locationInStack } from "../errors/code-frame.ts";
import { toFault } from "../errors/to-fault.ts";
import { configuredLimits, limitsOf } from "../manifest/limits.ts";
import type { PluginPackage } from "../manifest/manifest.ts";
import { exitReason } from "../process/exit-reason.ts";
import { type ResourceUsage, Heartbeat } from "../process/heartbeat.ts";
import { findLeaks } from "../process/leak-report.ts";
import { waitedWithHostMs } from "../process/own-time.ts";
import type { PluginProcess } from "../process/plugin-process.ts";
import { readMemoryAndDescriptors } from "../process/procfs.ts";
import type { HandoverResult } from "../state/reload-result.ts";
import type { Build } from "../versions/version.ts";
import { type CallCounts, type PluginMethod, CallRouter } from "./call-router.ts";
import {
  startCandidate,
  type Candidate,
  quiesce,
  quiesceFailure,
  handOver,
  type HandoverDependencies,
  type Live,
} from "./handover.ts";
import { homeSettingsOf, type ProcessLoader } from "./process-loader.ts";
import { IdleTime, Rest, REST_AFTER_MS } from "./rest.ts";
import { RouteAnswers } from "./route-answers.ts";
import { CheckedServiceCall, deadlineOf } from "./service-call.ts";

/** After a handover, a crash within this time rolls back to the previous build. */
const PROBATION_MS = 10_000;
/** The default time that a start may take during a reload: calls wait meanwhile. */
const RELOAD_START_MS = 1_500;
/** The deadline for the answer to changed settings of the home. */
const SETTINGS_MS = 2_000;

/** The events that a live process reports to its module. */
export interface ProcessEvents {
  /** `since` is when the fault began (monotonic, in ms), which is before it was detected. */
  onCrash(fault: ModuleFault, since: number): void;
  onUsage(figures: ResourceUsage | undefined): void;
  /** Called when the process of this code becomes the one that may call the host. */
  onCallerChanged(candidate: Candidate): void;
  /** Called when this code has started and is the one that runs. */
  onLive(candidate: Candidate): void;
  /** Called while the process has had nothing to do for long enough to rest. */
  onIdle(): void;
  /** Called once when a module that rests needs a process. */
  onWakeRequested(): void;
  warn(sentence: string, error: unknown): void;
}

interface ProcessDependencies {
  readonly loader: ProcessLoader;
  readonly events: ProcessEvents;
  readonly config: ConfigStore;
  /** A process that has nothing to do for this long rests. Absent means two minutes. */
  readonly restAfterMs?: number | undefined;
}

/** Throws if the finished build must not run after all. */
export type Confirm = () => Promise<void>;

/** The live process of one module, its replacement by another one, and the calls to it. */
export class LiveProcess {
  readonly #id: string;
  readonly #loader: ProcessLoader;
  readonly #events: ProcessEvents;
  readonly #config: ConfigStore;
  readonly #calls: CallRouter;
  readonly #answers: RouteAnswers;
  /** The limits of the live process, or of the last one. */
  #limits: ModuleView["limits"] = limitsOf({});
  /** The services of the live process, or of the last one. */
  #services: ServiceDefinitions = new Map();
  #routes: readonly RouteDefinition[] = [];
  #live: Live | undefined;
  /** The code whose process, and no other, may call the host. */
  #caller: Candidate | undefined;
  #isReplacing = false;
  #probation: { build: Build; state: unknown; until: number } | undefined;
  #heartbeat: Heartbeat | undefined;
  readonly #restAfterMs: number;
  #idle = new IdleTime();
  #rest: Rest | undefined;

  constructor(
    id: string,
    { loader, events, config, restAfterMs = REST_AFTER_MS }: ProcessDependencies,
  ) {
    this.#id = id;
    this.#loader = loader;
    this.#events = events;
    this.#config = config;
    this.#restAfterMs = restAfterMs;
    this.#calls = new CallRouter(id, {
      live: () => this.#live,
      queueLength: () => this.#limits.queueLength,
      waitedForCpuMs: () => waitedWithHostMs(this.#caller?.generation.pid ?? 0),
      onWait: () => this.#rest?.requestWake(),
      onFault: ({ remoteStack }) => events.warn("the plugin's code failed in a call", remoteStack),
    });
    this.#answers = new RouteAnswers(id, {
      call: (input) => this.call("answerRoute", input),
      ready: () => this.ready(),
      request: () => this.#live?.request,
      warn: events.warn.bind(events),
    });
  }

  get isRunning(): boolean {
    return this.#live !== undefined;
  }

  /** True if its process has had nothing to do for long enough to rest. */
  get isIdle(): boolean {
    const isDebugged = this.#live?.generation.inspectPort !== undefined;
    return this.isRunning && !isDebugged && this.#idle.msAt(this.counts.calls) >= this.#restAfterMs;
  }

  /** True if it has no process because nothing needs one. */
  get isResting(): boolean {
    return this.#rest !== undefined;
  }

  /** True for the one process that may call the host. */
  mayCallHost(generation: PluginProcess): boolean {
    return this.#caller?.generation === generation;
  }

  /** The plugin whose code may call the host now. */
  get callingPlugin(): PluginPackage | undefined {
    return this.#caller?.build.plugin;
  }

  /** Starts `build` in a new process, with `state` if given. @throws MantelError `reload_failed` */
  async start(build: Build, state?: unknown): Promise<void> {
    const { startMs } = this.#limitsFor(build);
    const candidate = await this.#loader.load(build, startMs);
    try {
      this.#become(await startCandidate(candidate, state, this.#handoverParts(startMs)));
      this.releaseCalls();
    } catch (error) {
      throw await this.#loader.explain(error, candidate);
    }
  }

  /**
   * Ends the process, which has nothing to do, until it is needed. Calls then wait for the next one.
   * @throws Error if it cannot be told when it is needed; the process continues
   */
  async rest(): Promise<void> {
    this.#idle = new IdleTime();
    const live = this.#live;
    if (!live) return;
    const { generation, build, request } = live;
    const folders = Object.values(request.folders);
    const rest = new Rest(build, folders, () => this.#events.onWakeRequested());
    this.#calls.gate.close();
    this.#forget();
    this.#rest = rest;
    const { state } = await quiesce(live, this.#handoverParts(this.#limits.startMs));
    rest.state = state;
    this.#caller = undefined;
    await generation.terminate();
  }

  /** Starts the code that rests, with the state from before. If it does not start, it counts as crashed. */
  async wake(): Promise<void> {
    const rest = this.#rest;
    if (!rest) return;
    try {
      await this.start(rest.build, rest.state);
    } catch (error) {
      this.#endRest();
      this.#lost(toFault(error));
    }
  }

  /**
   * Replaces the live process by one of `build`, or starts that in place of the code that rests. `confirm` is called
   * last and may still refuse.
   * @throws MantelError `reload_failed`, or the error of `confirm`; the live process continues unchanged
   */
  async replace(build: Build, confirm?: Confirm): Promise<HandoverResult> {
    const takeOver = this.#takeOver();
    if (!takeOver) {
      throw new MantelError("module_down", "the module has no live process to replace");
    }
    const next = await this.#loader.load(build, this.#limitsFor(build).startMs);
    try {
      await confirm?.();
    } catch (error) {
      await next.generation.terminate();
      throw error;
    }
    return takeOver(next);
  }

  /** The way in which new code takes over now; `undefined` if there is nothing that it could replace. */
  #takeOver(): ((next: Candidate) => Promise<HandoverResult>) | undefined {
    const [old, rest] = [this.#live, this.#rest];
    if (!old) return rest && ((next) => this.#startInstead(rest, next));
    return async (next) => {
      this.#isReplacing = true;
      try {
        return await this.#handOver(old, next);
      } finally {
        this.#isReplacing = false;
      }
    };
  }

  /** Takes the build to return to if the live one crashed on probation; only once. */
  takeProbation(): { build: Build; state: unknown } | undefined {
    const probation = this.#probation;
    this.#probation = undefined;
    return probation && performance.now() < probation.until ? probation : undefined;
  }

  /** Lets calls wait for a successor of the crashed process. */
  holdCalls(): void {
    this.#calls.gate.close();
  }

  /** Lets waiting calls continue, or refuses them without a process. */
  releaseCalls(): void {
    this.#calls.gate.open();
  }

  /** The time for which calls could not reach a process, of all pauses that have ended, rests among them. */
  get pausedMs(): number {
    return this.#calls.gate.pausedMs;
  }

  get counts(): CallCounts {
    return this.#calls.counts;
  }

  /** Resolves when calls need not wait; `undefined` if they need not now. @throws MantelError `module_down` */
  ready(): Promise<void> | undefined {
    return this.#calls.gate.isOpen ? undefined : this.#calls.gate.pass();
  }

  /** Begins the time without work again. During a rest it resolves when there is a process. @throws MantelError `module_down` */
  keepAwake(): Promise<void> | undefined {
    this.#idle.restart();
    return this.isResting ? this.ready() : undefined;
  }

  /** Calls the live process. @throws MantelError as `CallRouter.call` */
  call<M extends PluginMethod>(
    method: M,
    input: Parameters<PluginApi[M]>[0],
    deadlineMs: number = this.#limits.callMs,
  ): Promise<Awaited<ReturnType<PluginApi[M]>>> {
    return this.#calls.call(method, input, deadlineMs);
  }

  /** The definitions of the running code's services, or of those of the code that ran last. */
  get services(): ServiceDefinitions {
    return this.#services;
  }

  /** The routes of the running code, or of the code that ran before a restart; none once it was stopped. */
  get routes(): readonly RouteDefinition[] {
    return this.#routes;
  }

  /** Answers a request to a route. @throws MantelError as `RouteAnswers.answer` */
  answerRoute(definition: RouteDefinition, input: RouteInput): Promise<ReadyAnswer> {
    return this.#answers.answer(definition, input);
  }

  /** Calls a service of the live process. @throws ServiceError; MantelError as `CallRouter.call` */
  callService(call: ServiceCall): Promise<unknown> {
    const { key, input, chain } = call;
    const deadlineMs = deadlineOf(call, this.#services, this.#limits.callMs);
    const checks = new CheckedServiceCall(this.#id, call, (sentence, fault) =>
      this.#events.warn(sentence, fault),
    );
    return this.#calls.call("callService", { name: key, input, chain }, deadlineMs, checks);
  }

  /**
   * Tells the live process the home's settings. False if it has to be reloaded for them; true also without a process, or
   * when it has ended: the next one starts with them.
   */
  async followSettings(): Promise<boolean> {
    const live = this.#live;
    this.#rest?.requestWake();
    if (!live) return true;
    const home = homeSettingsOf(this.#config);
    this.#live = { ...live, request: { ...live.request, home } };
    const told = live.generation.peer.call("settingsChanged", home, SETTINGS_MS);
    const { isFollowed } = await told.catch(() => ({ isFollowed: !this.isRunning }));
    return isFollowed;
  }

  /** Quiesces and ends the live process. */
  async stop(): Promise<void> {
    const live = this.#forget();
    this.#endRest();
    this.#routes = [];
    this.releaseCalls();
    if (!live) return;
    const { generation } = live;
    const { quiesceMs } = this.#limits;
    await generation.peer
      .call("quiesce", { deadlineMs: quiesceMs }, quiesceMs + 500)
      .catch(async (error: unknown) =>
        this.#events.warn("the module did not quiesce", await quiesceFailure(error, generation)),
      );
    this.#caller = undefined;
    await generation.terminate();
  }

  async #handOver(old: Candidate, next: Candidate): Promise<HandoverResult> {
    const { generation, build } = old;
    const beforeBytes = readMemoryAndDescriptors(generation.pid).memoryBytes;
    const goLive = (live: Live): void => {
      const until = performance.now() + PROBATION_MS;
      const isNext = live.generation === next.generation;
      if (isNext) this.#probation = { build, state: live.request.handedOver, until };
      this.#isReplacing = false; // from here on a crash is one of the code that runs now
      this.#become(live);
    };
    const parts = { ...this.#handoverParts(this.#reloadStartMs(next.build)), goLive };
    const handover = await handOver(old, next, parts).catch(async (error: unknown) => {
      const explained = await this.#loader.explain(error, next);
      this.#lost(toFault(explained));
      throw explained;
    });
    const { live } = handover;
    if (handover.failure) throw await this.#loader.explain(handover.failure.cause, next);
    const leftOpen = await findLeaks(generation, build.plugin.folder, sourcesOf(build));
    this.#loader.warmEarly();
    await generation.terminate();
    const afterBytes = readMemoryAndDescriptors(live.generation.pid).memoryBytes;
    return {
      downtimeMs: handover.downtimeMs,
      drained: handover.drained,
      stateHandedOver: live.request.handedOver !== undefined,
      memory: { beforeBytes, afterBytes },
      leftOpen,
    };
  }

  /** Starts new code in place of the code that rests, which continues to rest if that fails. */
  async #startInstead(rest: Rest, next: Candidate): Promise<HandoverResult> {
    const startMs = this.#reloadStartMs(next.build);
    try {
      const live = await startCandidate(next, rest.state, this.#handoverParts(startMs));
      const until = performance.now() + PROBATION_MS;
      this.#probation = { build: rest.build, state: rest.state, until };
      this.#become(live);
      this.releaseCalls();
      const { memoryBytes } = readMemoryAndDescriptors(live.generation.pid);
      return {
        downtimeMs: 0,
        drained: 0,
        stateHandedOver: live.request.handedOver !== undefined,
        memory: { beforeBytes: 0, afterBytes: memoryBytes },
        leftOpen: [],
      };
    } catch (error) {
      this.#caller = undefined;
      throw await this.#loader.explain(error, next);
    }
  }

  #handoverParts(startMs: number): Omit<HandoverDependencies, "goLive"> {
    return {
      gate: this.#calls.gate,
      startMs,
      quiesceMs: this.#limits.quiesceMs,
      allowCallsFrom: (candidate) => {
        this.#caller = candidate;
        this.#events.onCallerChanged(candidate);
      },
      fits: (state, candidate) => this.#loader.fits(state, candidate),
      reloadOf: ({ build }) => this.#loader.load(build, this.#limitsFor(build).startMs),
      warn: (sentence, error) => this.#events.warn(sentence, error),
    };
  }

  /** The limits in the current config; a running process keeps those it started with. */
  #limitsFor({ plugin }: Build): ModuleView["limits"] {
    return configuredLimits(this.#config.current, plugin);
  }

  /** The deadline of a start during a reload, while calls wait: that of the config or the manifest, otherwise a short one. */
  #reloadStartMs({ plugin: { id, manifest } }: Build): number {
    const configured = this.#config.current.modules[id]?.limits?.startMs;
    return configured ?? manifest.limits?.startMs ?? RELOAD_START_MS;
  }

  #become(live: Live): void {
    this.#heartbeat?.stop();
    this.#endRest();
    this.#idle = new IdleTime();
    if (this.#live?.generation !== live.generation) this.#watchExit(live); // once per process, even after repeated rollbacks
    this.#live = live;
    this.#services = live.services;
    this.#routes = live.routes;
    this.#limits = this.#limitsFor(live.build);
    this.#events.onLive(live);
    this.#heartbeat = new Heartbeat(live.generation, (figures, mayRest) => {
      this.#events.onUsage(figures);
      this.#idle.add(mayRest, this.counts.calls);
      if (this.isIdle) this.#events.onIdle();
    });
  }

  #endRest(): void {
    this.#rest?.end();
    this.#rest = undefined;
  }

  #watchExit({ generation, build }: Candidate): void {
    void generation.exited.then((exit) => {
      if (this.#live?.generation !== generation || this.#isReplacing) return;
      const place = locationInStack(
        exit.lastLines.join("\n"),
        build.plugin.folder,
        sourcesOf(build),
      );
      this.#lost({ message: exitReason(exit), ...place }, exit.ended?.since);
    });
  }

  /** Handles the unexpected end of the live process. */
  #lost(fault: ModuleFault, since = performance.now()): void {
    this.#forget();
    this.holdCalls();
    this.#events.onCrash(fault, since);
  }

  #forget(): Candidate | undefined {
    const live = this.#live;
    this.#live = undefined;
    this.#heartbeat?.stop();
    this.#heartbeat = undefined;
    this.#events.onUsage(undefined);
    return live;
  }
}
