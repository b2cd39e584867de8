import type { HomeBatch } from "@mantel/plugin-sdk/home-protocol";
import type { RunRequest } from "@mantel/plugin-sdk/schedule-protocol";
import type { SourceChange } from "@mantel/plugin-sdk/sources";
import type { ModuleFault } from "../../api/module.ts";
import { ChannelFollower } from "../../channels/follower.ts";
import type { ConfigStore } from "../../config/store.ts";
import type { Compiler } from "../build/compile.ts";
import { installMissing } from "../build/install.ts";
import { hostApi, type HostDependencies } from "../calls/host-api.ts";
import { isConsentNeeded } from "../consent/consent-needed-error.ts";
import { PermissionUse } from "../consent/permission-use.ts";
import type { PluginPackage } from "../manifest/manifest.ts";
import type { PluginProcess } from "../process/plugin-process.ts";
import type { WarmProcessPool } from "../process/warm-process.ts";
import { type ModuleLog, logLeaks } from "../state/logs.ts";
import { logAddedPermissions } from "../state/permission-diff.ts";
import type { ReloadTrigger, HandoverResult } from "../state/reload-result.ts";
import type { ModuleStatus } from "../state/status.ts";
import type { ModuleVersions } from "../versions/module-versions.ts";
import { type Build, isSameBuild } from "../versions/version.ts";
import { CrashRecovery } from "./crash-recovery.ts";
import type { Candidate } from "./handover.ts";
import { type Confirm, LiveProcess } from "./live-process.ts";
import { ProcessLoader } from "./process-loader.ts";
import { ALWAYS_RELOADS } from "./reload-queue.ts";
import { TrialRuns } from "./trial-runs.ts";

/** A plugin that does not take a change of a channel within this time gets the next one later. */
const CHANGE_MS = 10_000;
/** Requests reload unchanged code once within this time, so that many requests are few reloads. */
const AGAIN_MS = 5_000;
/** A process that takes no changes within this time is hanging. */
const HOME_DEADLINE_MS = 10_000;

export interface ServerDependencies extends HostDependencies {
  readonly compiler: Compiler;
  readonly warmProcesses: WarmProcessPool;
  readonly config: ConfigStore;
  readonly dataFolder: string;
  /** Debugger ports by module id; they override those in the config. */
  readonly inspect: ReadonlyMap<string, number>;
  readonly cacheFolder: string;
  /** Plugins whose process has nothing to do for this long rest. Absent means two minutes. */
  readonly restAfterMs?: number | undefined;
}

/** The module that a server side belongs to. */
export interface ServerOwner {
  readonly id: string;
  readonly status: ModuleStatus;
  readonly log: ModuleLog;
  readonly versions: ModuleVersions;
  /** Called before the code on disk takes over. @throws MantelError `consent_needed` */
  readonly confirm: Confirm;
  /** Called when new code crashed on probation and the build before it works again. */
  readonly onRollback: (previous: Build, fault: ModuleFault) => void;
  /** Runs `work` while nothing else changes the module. */
  readonly enqueue: (work: () => Promise<void>) => void;
}

/** The server side of a module: decides which build runs, and recovers from crashes. */
export class Server {
  readonly process: LiveProcess;
  readonly trials: TrialRuns;
  readonly #recovery: CrashRecovery;
  readonly #owner: ServerOwner;
  readonly #parts: ServerDependencies;
  readonly #loader: ProcessLoader;
  readonly #use: PermissionUse;
  #reloadedAt = -Infinity;

  constructor(owner: ServerOwner, parts: ServerDependencies) {
    const { id, status, log, versions, enqueue } = owner;
    this.#owner = owner;
    this.#parts = parts;
    this.#use = new PermissionUse((unused) => status.setUnused(unused));
    const warn = (sentence: string, error: unknown) =>
      log.record({ level: "warn", sentence, fields: { error: String(error) } });
    this.#loader = new ProcessLoader({
      ...parts,
      onTrialsFound: (trials) => status.setTrials(trials),
      warn,
      reached: (host, origin) => this.#use.reached(host, origin),
      printed: (sentence, level) => log.record({ level, sentence }),
      apiFor: (generation, plugin) => this.#apiFor(generation, plugin),
    });
    const events = {
      warn,
      onCrash: (fault: ModuleFault, since: number) =>
        enqueue(() => this.#recovery.crashed(fault, since)),
      onUsage: status.uses.bind(status),
      onCallerChanged: ({ channels }: Candidate) => {
        status.forgetDegraded();
        parts.channels.admit(id, channels);
      },
      onLive: ({ build: live }: Candidate) => {
        parts.channels.settle(id);
        parts.home.feeds.settle(id);
        void this.#use.follow(live);
      },
      onIdle: () => this.#mayRest && enqueue(() => this.#rest()),
      onWakeRequested: () => enqueue(() => this.#wake()),
    };
    const { config, restAfterMs } = parts;
    this.process = new LiveProcess(id, { loader: this.#loader, events, config, restAfterMs });
    const build = () => versions.server;
    this.trials = new TrialRuns({ id, config: parts.config, loader: this.#loader, build });
    this.#recovery = new CrashRecovery({
      process: this.process,
      loader: this.#loader,
      status,
      build,
      enqueue,
      onRollback: (previous, fault) => {
        versions.serverRuns(previous);
        status.addedPermissions([]);
        status.describe(previous.plugin);
        void versions.storeServer();
        owner.onRollback(previous, fault);
      },
      onQuarantine: () => {
        parts.services.release(id);
        parts.channels.remove(id);
      },
      say: log.fault,
    });
  }

  /** The source files of the running code. */
  get inputs(): ReadonlySet<string> | undefined {
    return this.#owner.versions.server?.inputs;
  }

  /**
   * Starts the code on disk or, if it does not start, the last good build from before the host restarted:
   * its code, its manifest and, if the current config is invalid, its config. Returns the error of the code
   * on disk if the last good build had to start. After a rollback the last good build is tried first.
   */
  async start(plugin: PluginPackage, isRolledBack: boolean): Promise<unknown> {
    const { versions, status, log } = this.#owner;
    this.#recovery.forgive();
    const good = await versions.lastGoodServer();
    try {
      if (isRolledBack && good && (await this.#tryStart(good))) return undefined;
      const build = await this.compile(plugin);
      versions.serverRuns(build);
      await this.process.start(build);
      await versions.storeServer();
      logAddedPermissions(good?.plugin, plugin, { status, log });
      return undefined;
    } catch (error) {
      if (!good || !(await this.#tryStart(good))) throw error; // the author has to fix that
      return error;
    } finally {
      this.process.releaseCalls();
      await versions.deleteUnused(good);
    }
  }

  /** Starts only the last good build from before the host restarted. @throws MantelError `reload_failed` */
  async startLastGood(good: Build): Promise<void> {
    const { versions } = this.#owner;
    this.#recovery.forgive();
    try {
      await this.process.start(good);
      versions.serverRestored(good);
    } finally {
      this.process.releaseCalls();
      await versions.deleteUnused(good);
    }
  }

  /**
   * Replaces the running code by that on disk if there is a reason to; otherwise resolves to `undefined`. A request is
   * a reason, unless the code was reloaded just before.
   * @throws MantelError `reload_failed`; the running code continues
   */
  async reload(plugin: PluginPackage, trigger: ReloadTrigger): Promise<HandoverResult | undefined> {
    const { versions, status, confirm } = this.#owner;
    const build = await this.compile(plugin);
    const isRecent = performance.now() - this.#reloadedAt < AGAIN_MS;
    const mayHelp = trigger === "request" && (!isRecent || status.view.state === "degraded");
    const isSame = isSameBuild(build, versions.server);
    if (isSame && !mayHelp && !ALWAYS_RELOADS.has(trigger)) return undefined;
    const failure = trigger === "file" ? versions.failureOf(build) : undefined;
    if (failure) {
      await versions.deleteUnused(); // the compiler has just written it again
      throw failure.error;
    }
    try {
      return await this.#replaceBy(build, confirm);
    } catch (error) {
      if (!isConsentNeeded(error)) versions.serverFailed(build, error);
      throw error;
    }
  }

  /** Reloads the running build with the current config and SDK. @throws MantelError `reload_failed` */
  async restart(): Promise<HandoverResult | undefined> {
    const { server } = this.#owner.versions;
    return server && this.#replaceBy(server);
  }

  /** Rolls back to a previous build, even if nothing runs now. @throws MantelError `reload_failed` */
  async rollBack(build: Build): Promise<HandoverResult | undefined> {
    if (this.process.isRunning || this.process.isResting) return this.#replaceBy(build);
    await this.process.start(build);
    await this.#recordStarted(build);
    return undefined;
  }

  /** Installs missing packages and compiles the plugin on disk. @throws MantelError `reload_failed` */
  async compile(plugin: PluginPackage): Promise<Build> {
    const { status, log } = this.#owner;
    const { id, folder, manifest } = plugin;
    await installMissing(folder, {
      progress: (sentence) => {
        status.showProgress(sentence);
        log.record({ level: "info", sentence: sentence ?? "installation finished" });
      },
      warn: (sentence, fields) => log.record({ level: "warn", sentence, fields }),
    });
    this.#loader.prepare(plugin);
    const bundle = await this.#parts.compiler.compile(id, folder, manifest.server ?? "");
    return { ...bundle, plugin };
  }

  /** Stops the process and cancels pending restarts. */
  async stop(): Promise<void> {
    this.#recovery.cancel();
    await this.trials.close();
    await this.process.stop();
  }

  /** True if nothing needs its process. A bridge keeps its own, and so does a module that is not well. */
  get #mayRest(): boolean {
    const { id, status, versions } = this.#owner;
    const isBridge = versions.server?.plugin.manifest.bridge !== undefined;
    if (isBridge || status.view.state !== "active" || !this.process.isIdle) return false;
    return !this.#parts.channels.isFollowed(id);
  }

  /** Lets the process end until it is needed. */
  async #rest(): Promise<void> {
    const { status, log } = this.#owner;
    if (!this.#mayRest) return; // something has happened since it was asked for
    try {
      await this.process.rest();
      status.rests(this.process.isResting);
      log.record({ level: "debug", sentence: "the module rests until it is needed" });
    } catch (error) {
      const fields = { error: String(error) };
      log.record({ level: "warn", sentence: "the module cannot rest", fields });
    }
  }

  async #wake(): Promise<void> {
    const { status } = this.#owner;
    await this.process.wake();
    if (this.process.isRunning) status.rests(false);
  }

  /** Starts the last good build. False if it does not start either. */
  async #tryStart(good: Build): Promise<boolean> {
    try {
      await this.process.start(good);
    } catch {
      return false;
    }
    this.#owner.versions.serverRestored(good);
    return true;
  }

  #replaceBy(build: Build, confirm?: Confirm): Promise<HandoverResult> {
    const { status, versions, log } = this.#owner;
    status.become("reloading");
    return this.#loader.whileReloading(async () => {
      try {
        const swap = await this.process.replace(build, confirm);
        await this.#recordStarted(build);
        logLeaks(swap.leftOpen, log);
        return swap;
      } finally {
        await versions.deleteUnused();
      }
    });
  }

  /** Records that another build than before has started. */
  async #recordStarted(build: Build): Promise<void> {
    const { versions, status, log } = this.#owner;
    const before = versions.server?.plugin;
    versions.serverRuns(build);
    this.#reloadedAt = performance.now();
    await versions.storeServer();
    this.#recovery.forgive();
    logAddedPermissions(before, build.plugin, { status, log });
    status.started(build.plugin);
  }

  #apiFor(generation: PluginProcess, { id, manifest }: PluginPackage): ReturnType<typeof hostApi> {
    const { status, log } = this.#owner;
    let follower: ChannelFollower | undefined;
    const caller = {
      id,
      manifest,
      log,
      isLive: () => this.process.mayCallHost(generation),
      degraded: (reason: string | undefined) => status.degraded(reason),
      follower: () => (follower ??= this.#createFollower(generation)),
      sendChanges: (batch: HomeBatch) =>
        generation.peer.call("homeChanged", batch, HOME_DEADLINE_MS),
      exited: generation.exited,
      sendSource: (change: SourceChange) =>
        generation.peer.call("sourceChanged", change, CHANGE_MS),
      runSchedule: (request: RunRequest) => this.process.call("runSchedule", request),
    };
    return this.#use.watching(hostApi(caller, this.#parts));
  }

  #createFollower({ peer, exited }: PluginProcess): ChannelFollower {
    const follower = new ChannelFollower(this.#parts.channels, (change) =>
      peer.call("channelChanged", change, CHANGE_MS),
    );
    void exited.then(() => follower.close());
    return follower;
  }
}
