import { MantelError } from "@mantel/plugin-sdk/errors";
import type { RouteDefinition } from "@mantel/plugin-sdk/route";
import { SerialQueue } from "@mantel/plugin-sdk/serial-queue";
import type { ModuleFault, ModuleView, ReloadResult } from "../../api/module.ts";
import { ServiceNameTaken } from "../../services/registry.ts";
import { isConsentNeeded } from "../consent/consent-needed-error.ts";
import { toFault } from "../errors/to-fault.ts";
import type { PluginPackage } from "../manifest/manifest.ts";
import type { ModuleLog } from "../state/logs.ts";
import { ReloadRecord, type ReloadTrigger, type HandoverResult } from "../state/reload-result.ts";
import type { ModuleStatus } from "../state/status.ts";
import { type Build, isReplaceableBy } from "../versions/version.ts";
import { type ModuleWork, NO_CALLS } from "./call-router.ts";
import type { LiveProcess } from "./live-process.ts";
import {
  createModuleCode,
  isRolledBack,
  type ModuleCode,
  type ModuleCodeDependencies,
  recordRunning,
  returnTo,
  startLastGood,
  startOnDisk,
  withoutServer,
} from "./module-code.ts";
import { isConfigured, NotConfigured } from "./process-loader.ts";
import { ALWAYS_RELOADS, ReloadQueue } from "./reload-queue.ts";
import { SourceFiles } from "./source-files.ts";
import type { TrialRuns } from "./trial-runs.ts";
import { type ReportedFault, WidgetFaults } from "./widget-faults.ts";

export interface ModuleDependencies extends ModuleCodeDependencies {
  /** Called after each change of the view. */
  readonly changed: (module: Module) => void;
}

/** The result of a change of code. */
interface Change {
  /** Absent if no process was replaced. */
  readonly swap: HandoverResult | undefined;
}

/**
 * One installed plugin as the host runs it: its server side, its widget and what both provide. Its starts, reloads
 * and stops happen one after the other.
 */
export class Module {
  readonly id: string;
  readonly log: ModuleLog;
  readonly status: ModuleStatus;
  readonly #parts: ModuleDependencies;
  readonly #code: ModuleCode;
  readonly #widgetFaults: WidgetFaults;
  readonly #queue = new SerialQueue();
  readonly #reloads = new ReloadQueue(
    (work) => this.#queue.take(work),
    (trigger, underWay) => this.#reload(trigger, underWay),
  );
  readonly #files = new SourceFiles();
  #reloadCount = 0;
  #isShutDown = false;
  /** True if its last start failed because another module provides one of its names. */
  #isNameTaken = false;

  constructor(plugin: PluginPackage, parts: ModuleDependencies) {
    const { id } = plugin;
    const { log } = parts;
    this.id = id;
    this.log = log;
    this.#parts = parts;
    this.#code = createModuleCode(plugin, parts, {
      changed: () => parts.changed(this),
      onServed: (hash) => this.#widgetFaults.forget(hash),
      onRollback: (previous, fault) => this.#onRollback(previous, fault),
      enqueue: (work) => void this.#queue.take(work),
    });
    this.status = this.#code.status;
    this.#widgetFaults = new WidgetFaults({ status: this.status, log });
  }

  /** The running plugin. While it does not run: the version on disk, unless that waits for consent. */
  get plugin(): PluginPackage {
    const isRunning = this.isWorking || this.#code.consent.isNeeded;
    return isRunning ? this.#code.versions.plugin : this.#code.versions.onDisk;
  }

  /** The plugin whose code publishes now, also during a start or a reload; otherwise as `plugin`. */
  get callingPlugin(): PluginPackage {
    return this.#code.server?.process.callingPlugin ?? this.plugin;
  }

  /** The plugin as it is on disk. */
  get onDisk(): PluginPackage {
    return this.#code.versions.onDisk;
  }

  get view(): ModuleView {
    return this.status.view;
  }

  get isWorking(): boolean {
    return this.status.isWorking;
  }

  /** True if it is disabled, or did not start because of another module that is no longer in its way. */
  get canStart(): boolean {
    if (this.view.state === "disabled") return true;
    return this.#isNameTaken && this.#code.provided.canClaim(this.plugin);
  }

  /** True if the version on disk runs, and not one before it. */
  get isUpToDate(): boolean {
    return this.isWorking && !this.#code.versions.hasPendingVersion;
  }

  get work(): ModuleWork {
    const counts = this.#code.server?.process.counts ?? NO_CALLS;
    return { id: this.id, reloads: this.#reloadCount, logDrops: this.log.dropped, ...counts };
  }

  /** The source files of what runs: the same set until other code runs. */
  get inputs(): ReadonlySet<string> {
    return this.#files.of(this.#code.server?.inputs, this.#code.widget.inputs);
  }

  /** True if its next code may come from other files, because it does not run or is being compiled. */
  get mayUseAnyFile(): boolean {
    return !this.isUpToDate || this.#reloads.isRunning;
  }

  /** True if a changed manifest or folder can take over without a stop, because it is the same kind of plugin. */
  canBecome(plugin: PluginPackage): boolean {
    return isReplaceableBy(this.#code.versions.plugin, plugin);
  }

  /** Sets the plugin on disk: the next start or reload uses it, unless it waits for consent. */
  setOnDisk(plugin: PluginPackage): void {
    this.#code.consent.setOnDisk(plugin);
    if (this.view.state === "disabled") this.status.describe(this.plugin);
  }

  /** Grants the permissions that the plugin on disk asks for. @throws MantelError as `ModuleConsent.give` */
  allow(seen?: readonly string[]): Promise<string[]> {
    return this.#queue.take(() => this.#code.consent.give(seen));
  }

  /**
   * Reloads with the permissions granted now. A disabled or not configured module stays so. @throws MantelError as
   * `reload`
   */
  async takeOver(): Promise<ReloadResult> {
    const record = new ReloadRecord(this.status, "request");
    if (this.view.state === "disabled") return record.unchanged(false);
    if (isConfigured(this.#code.versions.onDisk, this.#parts.config)) return this.reload("request");
    await this.reload("request").catch(() => undefined); // its state shows what it waits for
    return record.unchanged(false);
  }

  /** Compiles and starts. A failure becomes the module's state and is not thrown. */
  start(): Promise<void> {
    return this.#queue.take(async () => {
      await this.#code.consent.readManifest();
      const failure = await this.#start().catch(() => undefined); // shown in its state
      if (failure !== undefined) this.#recordFailedVersion(failure);
    });
  }

  /**
   * Reloads changed code. Requests that arrive while one waits for its turn share that one.
   * @throws MantelError `reload_failed` if the new code did not start; the old code continues.
   * `consent_needed` if the plugin on disk asks for more than it was granted; nothing changes
   */
  reload(trigger: ReloadTrigger): Promise<ReloadResult> {
    return this.#reloads.ask(trigger);
  }

  /**
   * Rolls back to the previous code, until the files change or a reload is requested.
   * @throws MantelError `no_earlier_code`; `reload_failed` if that did not start: the running code continues
   */
  rollBack(): Promise<ReloadResult> {
    return this.#queue.take(() => this.#rollBack());
  }

  /** Tells the running code the home's settings. False if it has to be reloaded for them. */
  async followSettings(): Promise<boolean> {
    if (["loading", "reloading"].includes(this.view.state)) return false; // it may have begun with the previous ones
    return (await this.#code.server?.process.followSettings()) ?? true;
  }

  /** Records an error of its widget in a browser, if that code is still served. */
  widgetFailed(fault: ReportedFault): void {
    const { served } = this.#code.widget;
    if (served) this.#widgetFaults.record(served, fault);
  }

  /** Updates where its widget runs, after a change of the config. */
  followTrust(): void {
    if (this.#code.widget.view?.runsIn !== this.view.widget?.runsIn) this.status.widgetMoved();
  }

  /** Stops the module and withdraws what it published. */
  stop(reason?: string): Promise<void> {
    return this.#queue.take(async () => {
      this.status.become("stopping");
      await this.#end();
      this.status.become("disabled", reason === undefined ? null : { message: reason });
      if (reason === undefined) return;
      this.log.record({ level: "info", sentence: "the module was stopped", fields: { reason } });
    });
  }

  /** Stops its process and keeps what it published, because the host stops. */
  readonly shutDown = (): Promise<void> => {
    this.#isShutDown = true;
    return this.#queue.take(() => this.#stop());
  };

  /** Records, after a running reload, that its folder is not a valid plugin now; the running code continues. */
  readonly rejectChange = (error: MantelError): Promise<void> =>
    this.#queue.take(async () => {
      this.#code.versions.hasPendingVersion = true;
      new ReloadRecord(this.status, "file").failed(error);
    });

  /** The setup and test of its code; `undefined` for a module without a server side. */
  get trials(): TrialRuns | undefined {
    return this.#code.server?.trials;
  }

  /** The routes that its running code contributes. */
  get routes(): readonly RouteDefinition[] {
    return this.isWorking || this.status.isComingBack
      ? (this.#code.server?.process.routes ?? [])
      : [];
  }

  /** Answers a request to one of its routes. @throws MantelError as `LiveProcess.answerRoute` */
  readonly answerRoute: LiveProcess["answerRoute"] = (...asked) =>
    this.#code.server?.process.answerRoute(...asked) ?? Promise.reject(withoutServer(this.id));

  /** Resolves when calls need not wait; `undefined` if they need not now. @throws MantelError `module_down` */
  readonly ready = (): Promise<void> | undefined => this.#code.server?.process.ready();

  /** Keeps its process, or starts one. @throws MantelError as `LiveProcess.keepAwake` */
  readonly keepAwake = (): Promise<void> | undefined => this.#code.server?.process.keepAwake();

  /** Calls the live process. @throws MantelError as `CallRouter.call` */
  readonly call: LiveProcess["call"] = (...asked) =>
    this.#code.server?.process.call(...asked) ?? Promise.reject(withoutServer(this.id));

  /** Returns the error of the version on disk if the last good one had to start. @throws if neither started */
  async #start(): Promise<unknown> {
    const isWaiting = this.#code.consent.isNeeded;
    this.status.describe(this.plugin);
    this.status.become("loading");
    this.#isNameTaken = false;
    try {
      const failure = await (isWaiting ? startLastGood(this.#code) : startOnDisk(this.#code));
      this.status.started(this.#code.versions.plugin);
      this.#code.consent.dropUnused();
      return failure;
    } catch (error) {
      this.#code.provided.release();
      this.#isNameTaken = error instanceof ServiceNameTaken;
      const isForUser = error instanceof NotConfigured || isConsentNeeded(error);
      this.status.become(isForUser ? "unconfigured" : "failed", toFault(error));
      const isMeantToRun = isConfigured(this.plugin, this.#parts.config) && !isConsentNeeded(error);
      if (isMeantToRun) this.log.fault("the module did not start", toFault(error));
      throw error;
    }
  }

  /** Records that the code on disk failed and the previous version runs. */
  #recordFailedVersion(failure: unknown): void {
    this.log.fault(
      "the code on disk does not start; the previous version continues",
      toFault(failure),
    );
    new ReloadRecord(this.status, "file").failed(failure);
  }

  /** As `LiveProcess.pausedMs`. */
  get #pausedMs(): number {
    return this.#code.server?.process.pausedMs ?? 0;
  }

  async #reload(
    trigger: ReloadTrigger,
    underWay: Promise<ReloadResult> | undefined,
  ): Promise<ReloadResult> {
    this.#assertEnabled();
    const record = new ReloadRecord(this.status, trigger);
    const pausedBefore = this.#pausedMs;
    await this.#code.consent.readManifest();
    if (this.#code.consent.isNeeded && !ALWAYS_RELOADS.has(trigger)) {
      if (this.view.lastReload?.error) record.unchanged(true); // the error is about code that no longer exists
      throw this.#code.consent.error;
    }
    if (trigger === "request") {
      this.#code.versions.endRollback();
      this.#widgetFaults.forget();
    }
    let failure: unknown;
    try {
      const mayRun = isConfigured(this.plugin, this.#parts.config);
      if (this.isWorking && mayRun) return await this.#replace(trigger, record, underWay);
      if (!mayRun) await this.#end();
      failure = await this.#start();
      if (failure === undefined) return record.reloaded();
    } catch (error) {
      if (isConsentNeeded(error)) {
        record.unchanged(true);
        throw error;
      }
      failure = error;
    }
    this.#code.versions.hasPendingVersion = true;
    if (this.isWorking) {
      this.log.fault("the new code did not start; the old code continues", toFault(failure));
    }
    throw record.failed(failure, this.#pausedMs - pausedBefore);
  }

  async #replace(
    trigger: ReloadTrigger,
    record: ReloadRecord,
    underWay: Promise<ReloadResult> | undefined,
  ): Promise<ReloadResult> {
    const { onDisk, hasPendingVersion } = this.#code.versions;
    const keepsVersion = this.#code.consent.isNeeded || (await isRolledBack(this.#code, onDisk));
    const isRepaired = keepsVersion ? this.view.lastReload?.error !== undefined : hasPendingVersion;
    const change = await (keepsVersion ? this.#restart(trigger) : this.#takeOnDisk(trigger));
    this.#code.consent.dropUnused();
    if (change) {
      this.#reloadCount++;
      return record.reloaded(change.swap);
    }
    // A request that joined a reload of the same content gets that reload's result; a second event
    // for one save is not worth a log line.
    const joined = keepsVersion ? undefined : await underWay?.catch(() => undefined);
    return joined ?? record.unchanged(trigger !== "file" || isRepaired);
  }

  /** Takes over the version on disk; `undefined` if it already runs. @throws MantelError `reload_failed` */
  async #takeOnDisk(trigger: ReloadTrigger): Promise<Change | undefined> {
    const versions = this.#code.versions;
    const plugin = versions.onDisk;
    const before = versions.running(this.#code.widget.bundle);
    const bundle = await this.#code.widget.build(plugin);
    const work = () => this.#code.server?.reload(plugin, trigger);
    const swap = await this.#code.provided.during(plugin, versions.plugin, work);
    if (!swap) await this.#code.consent.confirm();
    const isNewWidget = this.#code.widget.serve(plugin, bundle);
    const isNewManifest = this.#code.server === undefined && plugin !== versions.plugin;
    recordRunning(this.#code, plugin);
    versions.hasPendingVersion = false;
    if (!swap && !isNewWidget && !isNewManifest) return undefined;
    if (!swap || isNewWidget) this.status.widgetChanged(plugin, this.#code.server === undefined);
    versions.replaced(before, versions.running(this.#code.widget.bundle));
    return { swap };
  }

  /** Restarts the running version, after a change of the config or the SDK. @throws MantelError `reload_failed` */
  async #restart(trigger: ReloadTrigger): Promise<Change | undefined> {
    const swap = ALWAYS_RELOADS.has(trigger) ? await this.#code.server?.restart() : undefined;
    return swap && { swap };
  }

  async #rollBack(): Promise<ReloadResult> {
    this.#assertEnabled();
    const { previous } = this.#code.versions;
    if (!previous) {
      throw new MantelError("no_earlier_code", `${this.id} has no previous code to roll back to`);
    }
    const record = new ReloadRecord(this.status, "rollback");
    const pausedBefore = this.#pausedMs;
    try {
      const swap = await returnTo(this.#code, previous);
      this.#code.consent.settle();
      this.#reloadCount++;
      return record.rolledBack(swap);
    } catch (error) {
      if (!this.isWorking) this.#code.provided.release();
      throw record.failed(error, this.#pausedMs - pausedBefore);
    }
  }

  /** Stops both sides and withdraws everything they provide. */
  async #end(): Promise<void> {
    await this.#stop();
    if (this.#code.server) this.#code.provided.retract(this.#code.versions.plugin);
    this.#code.widget.remove();
    await this.#parts.compiler.forget(this.id);
  }

  /** Stops the process. Resolves when all records are stored. */
  async #stop(): Promise<void> {
    await Promise.all([
      this.#code.server?.stop(),
      this.#code.widget.stored(),
      this.#code.versions.stored(),
    ]);
  }

  /** New code crashed on probation, and the build before it works again. */
  #onRollback({ plugin }: Build, fault: ModuleFault): void {
    this.#code.versions.hasPendingVersion = true;
    this.#code.versions.forgetPrevious();
    recordRunning(this.#code, plugin);
    this.#parts.consents.keep(plugin);
    this.log.fault("the new code crashed; the previous code works again", fault);
    new ReloadRecord(this.status, "crash").reject(fault);
  }

  #assertEnabled(): void {
    if (this.#isShutDown) throw new MantelError("reload_failed", "the host stops");
    if (this.view.state !== "disabled") return;
    throw new MantelError("reload_failed", `${this.id} is disabled; enable it first`);
  }
}
