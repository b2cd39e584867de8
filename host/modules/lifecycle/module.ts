import { isDeepStrictEqual } from "node:util";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { RouteDefinition } from "@mantel/plugin-sdk/route";
import { SerialQueue } from "@mantel/plugin-sdk/serial-queue";
import type { ModuleFault, ModuleView, ReloadResult } from "../../api/module.ts";
import { ServiceNameTaken } from "../../services/registry.ts";
import { ProvidedServices } from "../calls/provided-services.ts";
import { isConsentNeeded } from "../consent/consent-needed-error.ts";
import type { Consents } from "../consent/consents.ts";
import { toFault } from "../errors/to-fault.ts";
import { configuredLimits } from "../manifest/limits.ts";
import { type PluginPackage, readManifest } from "../manifest/manifest.ts";
import { networkOf } from "../process/network/network-of.ts";
import { confinementOf } from "../process/sandbox/confinement.ts";
import type { Kernel } from "../process/sandbox/kernel.ts";
import type { ModuleLog } from "../state/logs.ts";
import { ReloadRecord, type ReloadTrigger, type HandoverResult } from "../state/reload-result.ts";
import { ModuleStatus } from "../state/status.ts";
import { ModuleVersions } from "../versions/module-versions.ts";
import type { VersionStore } from "../versions/version-store.ts";
import { type Build, isReplaceableBy, type Version } from "../versions/version.ts";
import { type ModuleWork, NO_CALLS } from "./call-router.ts";
import type { LiveProcess } from "./live-process.ts";
import { ModuleConsent } from "./module-consent.ts";
import { isConfigured, NotConfigured } from "./process-loader.ts";
import { ALWAYS_RELOADS, ReloadQueue } from "./reload-queue.ts";
import { Server, type ServerDependencies } from "./server.ts";
import type { TrialRuns } from "./trial-runs.ts";
import { type ReportedFault, WidgetFaults } from "./widget-faults.ts";
import { Widget, type WidgetAssets } from "./widget.ts";

export interface ModuleDependencies extends ServerDependencies {
  readonly assets: WidgetAssets;
  readonly consents: Consents;
  readonly kernel: Kernel;
  readonly log: ModuleLog;
  readonly versionStore: VersionStore;
  /** True for a plugin of the repository that runs from its own folder there. */
  readonly isShipped: (plugin: PluginPackage) => boolean;
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
  readonly #versions: ModuleVersions;
  readonly #consent: ModuleConsent;
  readonly #provided: ProvidedServices;
  readonly #widget: Widget;
  readonly #widgetFaults: WidgetFaults;
  /** Absent for a plugin that is only a widget. */
  readonly #server: Server | undefined;
  readonly #queue = new SerialQueue();
  readonly #reloads = new ReloadQueue(
    (work) => this.#queue.take(work),
    (trigger, underWay) => this.#reload(trigger, underWay),
  );
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
    this.status = new ModuleStatus(plugin, {
      changed: () => parts.changed(this),
      widget: () => this.#widget.view,
      limitsOf: (which) => configuredLimits(parts.config.current, which),
      confinementOf: (which) => this.#confinementOf(which),
    });
    const { status } = this;
    const versions = new ModuleVersions(plugin, {
      ...parts,
      id,
      status,
      store: parts.versionStore,
    });
    this.#versions = versions;
    this.#consent = new ModuleConsent({ id, status, log, versions, consents: parts.consents });
    this.#provided = new ProvidedServices(
      {
        id,
        definitions: () => this.#server?.process.services.values() ?? [],
        callService: (call) =>
          this.#server?.process.callService(call) ?? Promise.reject(this.#withoutServer()),
      },
      parts,
    );
    this.#widgetFaults = new WidgetFaults({ status, log });
    const onServed = (hash: string | undefined) => this.#widgetFaults.forget(hash);
    this.#widget = new Widget(id, { ...parts, onServed });
    this.#server = plugin.manifest.server === undefined ? undefined : this.#createServer();
  }

  /** The running plugin. While it does not run: the version on disk, unless that waits for consent. */
  get plugin(): PluginPackage {
    const isRunning = this.isWorking || this.#consent.isNeeded;
    return isRunning ? this.#versions.plugin : this.#versions.onDisk;
  }

  /** The plugin as it is on disk. */
  get onDisk(): PluginPackage {
    return this.#versions.onDisk;
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
    return this.#isNameTaken && this.#provided.canClaim(this.plugin);
  }

  get work(): ModuleWork {
    const counts = this.#server?.process.counts ?? NO_CALLS;
    return { id: this.id, reloads: this.#reloadCount, logDrops: this.log.dropped, ...counts };
  }

  /** The source files of what runs. */
  get inputs(): ReadonlySet<string> {
    return new Set([...(this.#server?.inputs ?? []), ...this.#widget.inputs]);
  }

  /** True if its next code may come from other files, because it does not run or is being compiled. */
  get mayUseAnyFile(): boolean {
    return this.#versions.hasPendingVersion || !this.isWorking || this.#reloads.isRunning;
  }

  /** True if a changed manifest or folder can take over without a stop, because it is the same kind of plugin. */
  canBecome(plugin: PluginPackage): boolean {
    return isReplaceableBy(this.#versions.plugin, plugin);
  }

  /** Sets the plugin on disk: the next start or reload uses it, unless it waits for consent. */
  setOnDisk(plugin: PluginPackage): void {
    this.#consent.setOnDisk(plugin);
    if (this.view.state === "disabled") this.status.describe(this.plugin);
  }

  /** Grants the permissions that the plugin on disk asks for. @throws MantelError as `ModuleConsent.give` */
  allow(seen?: readonly string[]): Promise<string[]> {
    return this.#queue.take(() => this.#consent.give(seen));
  }

  /**
   * Reloads with the permissions granted now. A disabled or not configured module stays so. @throws MantelError as
   * `reload`
   */
  async takeOver(): Promise<ReloadResult> {
    const record = new ReloadRecord(this.status, "request");
    if (this.view.state === "disabled") return record.unchanged(false);
    if (isConfigured(this.#versions.onDisk, this.#parts.config)) return this.reload("request");
    await this.reload("request").catch(() => undefined); // its state shows what it waits for
    return record.unchanged(false);
  }

  /** Compiles and starts. A failure becomes the module's state and is not thrown. */
  start(): Promise<void> {
    return this.#queue.take(async () => {
      await this.#readManifest();
      await this.#start().catch(() => undefined); // shown in its state
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
    return (await this.#server?.process.followSettings()) ?? true;
  }

  /** Records an error of its widget in a browser, if that code is still served. */
  widgetFailed(fault: ReportedFault): void {
    const { served } = this.#widget;
    if (served) this.#widgetFaults.record(served, fault);
  }

  /** Updates where its widget runs, after a change of the config. */
  followTrust(): void {
    if (this.#widget.view?.runsIn !== this.view.widget?.runsIn) this.status.widgetMoved();
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
      this.#versions.hasPendingVersion = true;
      new ReloadRecord(this.status, "file").failed(error);
    });

  /** The setup and test of its code; `undefined` for a module without a server side. */
  get trials(): TrialRuns | undefined {
    return this.#server?.trials;
  }

  /** The routes that its running code contributes. */
  get routes(): readonly RouteDefinition[] {
    return this.isWorking || this.status.isComingBack ? (this.#server?.process.routes ?? []) : [];
  }

  /** Answers a request to one of its routes. @throws MantelError as `LiveProcess.answerRoute` */
  readonly answerRoute: LiveProcess["answerRoute"] = (...asked) =>
    this.#server?.process.answerRoute(...asked) ?? Promise.reject(this.#withoutServer());

  /** Resolves when calls need not wait; `undefined` if they need not now. @throws MantelError `module_down` */
  readonly ready = (): Promise<void> | undefined => this.#server?.process.ready();

  /** Calls the live process. @throws MantelError as `CallRouter.call` */
  readonly call: LiveProcess["call"] = (...asked) =>
    this.#server?.process.call(...asked) ?? Promise.reject(this.#withoutServer());

  #withoutServer(): MantelError {
    return new MantelError("module_down", `${this.id} has no server side`);
  }

  async #start(): Promise<void> {
    const isWaiting = this.#consent.isNeeded;
    this.status.describe(this.plugin);
    this.status.become("loading");
    this.#isNameTaken = false;
    try {
      const failure = await (isWaiting ? this.#startLastGood() : this.#startOnDisk());
      this.status.started(this.#versions.plugin);
      if (failure !== undefined) this.#recordFailedVersion(failure);
      this.#dropUnusedGrants();
    } catch (error) {
      this.#provided.release();
      this.#isNameTaken = error instanceof ServiceNameTaken;
      const isForUser = error instanceof NotConfigured || isConsentNeeded(error);
      this.status.become(isForUser ? "unconfigured" : "failed", toFault(error));
      const isMeantToRun = isConfigured(this.plugin, this.#parts.config) && !isConsentNeeded(error);
      if (isMeantToRun) this.log.fault("the module did not start", toFault(error));
      throw error;
    }
  }

  /**
   * Starts the version on disk. If that does not start or was rolled back, starts the last good version.
   * Returns the error of the version on disk if the last good version had to start because of it.
   */
  async #startOnDisk(): Promise<unknown> {
    const versions = this.#versions;
    const plugin = versions.onDisk;
    this.#provided.claim(plugin);
    await versions.readHistory();
    const last = await versions.lastGood();
    const isRolledBack = await this.#isRolledBack(plugin);
    const widgetPlugin = isRolledBack && last ? last.plugin : plugin;
    const widgetFailure = await this.#widget.start(widgetPlugin, isRolledBack);
    const failure = (await this.#server?.start(plugin, isRolledBack)) ?? widgetFailure;
    this.#recordRunning(versions.server?.plugin ?? plugin);
    versions.replaced(last, this.#running);
    versions.hasPendingVersion = failure !== undefined || versions.isRolledBack;
    return failure;
  }

  /** Starts the last good version, because the one on disk waits for consent. @throws MantelError `consent_needed` */
  async #startLastGood(): Promise<undefined> {
    const versions = this.#versions;
    const last = await versions.lastGood();
    if (!last || !this.canBecome(last.plugin)) throw this.#consent.error;
    this.#provided.claim(last.plugin);
    await versions.readHistory();
    if (last.widget) await this.#widget.start(last.plugin, true);
    if (last.server) await this.#server?.startLastGood(last.server);
    this.#recordRunning(last.plugin);
    versions.hasPendingVersion = true;
  }

  /**
   * Reads the manifest again, because it may have just changed: code never runs with an older or newer manifest.
   */
  async #readManifest(): Promise<void> {
    const { consents } = this.#parts;
    const { onDisk } = this.#versions;
    const plugin = await readManifest(onDisk.folder).catch(() => undefined); // the module list shows that
    if (plugin?.id !== this.id || isDeepStrictEqual(plugin, onDisk)) return;
    await consents.grantPlugins([plugin]);
    if (this.canBecome(plugin) || consents.neededBy(plugin).length > 0) this.setOnDisk(plugin);
  }

  /** Removes grants that the code on disk, which runs now, does not ask for. */
  #dropUnusedGrants(): void {
    if (!this.#versions.hasPendingVersion) this.#consent.settle();
  }

  /** Records that the code on disk failed and the previous version runs. */
  #recordFailedVersion(failure: unknown): void {
    this.log.fault(
      "the code on disk does not start; the previous version continues",
      toFault(failure),
    );
    new ReloadRecord(this.status, "file").failed(failure);
  }

  async #reload(
    trigger: ReloadTrigger,
    underWay: Promise<ReloadResult> | undefined,
  ): Promise<ReloadResult> {
    this.#assertEnabled();
    const record = new ReloadRecord(this.status, trigger);
    await this.#readManifest();
    if (this.#consent.isNeeded && !ALWAYS_RELOADS.has(trigger)) {
      if (this.view.lastReload?.error) record.unchanged(true); // the error is about code that no longer exists
      throw this.#consent.error;
    }
    if (trigger === "request") {
      this.#versions.endRollback();
      this.#widgetFaults.forget();
    }
    try {
      const mayRun = isConfigured(this.plugin, this.#parts.config);
      if (this.isWorking && mayRun) return await this.#replace(trigger, record, underWay);
      if (!mayRun) await this.#end();
      await this.#start();
      return record.reloaded();
    } catch (error) {
      if (isConsentNeeded(error)) {
        record.unchanged(true);
        throw error;
      }
      this.#versions.hasPendingVersion = true;
      if (this.isWorking) {
        this.log.fault("the new code did not start; the old code continues", toFault(error));
      }
      throw record.failed(error);
    }
  }

  async #replace(
    trigger: ReloadTrigger,
    record: ReloadRecord,
    underWay: Promise<ReloadResult> | undefined,
  ): Promise<ReloadResult> {
    const { onDisk, hasPendingVersion } = this.#versions;
    const keepsVersion = this.#consent.isNeeded || (await this.#isRolledBack(onDisk));
    const isRepaired = keepsVersion ? this.view.lastReload?.error !== undefined : hasPendingVersion;
    const change = await (keepsVersion ? this.#restart(trigger) : this.#takeOnDisk(trigger));
    this.#dropUnusedGrants();
    if (change) return this.#counted(record.reloaded(change.swap));
    // A request that joined a reload of the same content gets that reload's result; a second event
    // for one save is not worth a log line.
    const joined = keepsVersion ? undefined : await underWay?.catch(() => undefined);
    return joined ?? record.unchanged(trigger !== "file" || isRepaired);
  }

  /** Takes over the version on disk; `undefined` if it already runs. @throws MantelError `reload_failed` */
  async #takeOnDisk(trigger: ReloadTrigger): Promise<Change | undefined> {
    const versions = this.#versions;
    const [plugin, before] = [versions.onDisk, this.#running];
    const bundle = await this.#widget.build(plugin);
    const work = () => this.#server?.reload(plugin, trigger);
    const swap = await this.#provided.during(plugin, versions.plugin, work);
    if (!swap) await this.#confirm();
    const isNewWidget = this.#widget.serve(plugin, bundle);
    const isNewManifest = this.#server === undefined && plugin !== versions.plugin;
    this.#recordRunning(plugin);
    versions.hasPendingVersion = false;
    if (!swap && !isNewWidget && !isNewManifest) return undefined;
    if (!swap || isNewWidget) this.status.widgetChanged(plugin, this.#server === undefined);
    versions.replaced(before, this.#running);
    return { swap };
  }

  /** Restarts the running version, after a change of the config or the SDK. @throws MantelError `reload_failed` */
  async #restart(trigger: ReloadTrigger): Promise<Change | undefined> {
    const swap = ALWAYS_RELOADS.has(trigger) ? await this.#server?.restart() : undefined;
    return swap && { swap };
  }

  async #rollBack(): Promise<ReloadResult> {
    this.#assertEnabled();
    const { previous } = this.#versions;
    if (!previous) {
      throw new MantelError("no_earlier_code", `${this.id} has no previous code to roll back to`);
    }
    const record = new ReloadRecord(this.status, "rollback");
    try {
      const swap = await this.#returnTo(previous);
      this.#consent.settle();
      return this.#counted(record.rolledBack(swap));
    } catch (error) {
      if (!this.isWorking) this.#provided.release();
      throw record.failed(error);
    }
  }

  async #returnTo({ plugin, server, widget }: Version): Promise<HandoverResult | undefined> {
    const running = this.#running;
    const work = () => server && this.#server?.rollBack(server);
    const swap = await this.#provided.during(plugin, this.#versions.plugin, work);
    this.#widget.serve(plugin, widget);
    this.#recordRunning(plugin);
    this.status.widgetChanged(plugin, server === undefined);
    this.#versions.hasPendingVersion = true;
    this.#versions.rolledBack(running);
    return swap;
  }

  /** True if someone rolled back the version on disk, and it has not changed since. */
  async #isRolledBack(plugin: PluginPackage): Promise<boolean> {
    if (!this.#versions.isRolledBack) return false;
    try {
      const server = await this.#server?.compile(plugin);
      const widget = await this.#widget.build(plugin);
      return this.#versions.wasRolledBack({ plugin, server, widget });
    } catch {
      return false; // the version on disk has changed, and is invalid
    }
  }

  /** Stops both sides and withdraws everything they provide. */
  async #end(): Promise<void> {
    await this.#stop();
    if (this.#server) this.#provided.retract(this.#versions.plugin);
    this.#widget.remove();
    await this.#parts.compiler.forget(this.id);
  }

  /** Stops the process. Resolves when all records are stored. */
  async #stop(): Promise<void> {
    await Promise.all([this.#server?.stop(), this.#widget.stored(), this.#versions.stored()]);
  }

  get #running(): Version {
    return this.#versions.running(this.#widget.bundle);
  }

  /** Records that this plugin runs, and withdraws what only the one before provided. */
  #recordRunning(plugin: PluginPackage): void {
    const before = this.#versions.plugin;
    if (before !== plugin) this.#provided.replace(before, plugin);
    this.#versions.plugin = plugin;
  }

  /** The last check before the code on disk takes over. @throws MantelError `consent_needed` */
  async #confirm(): Promise<void> {
    await this.#readManifest();
    if (this.#consent.isNeeded) throw this.#consent.error;
  }

  /** New code crashed on probation, and the build before it works again. */
  #onRollback({ plugin }: Build, fault: ModuleFault): void {
    this.#versions.hasPendingVersion = true;
    this.#versions.forgetPrevious();
    this.#recordRunning(plugin);
    this.#parts.consents.keep(plugin);
    this.log.fault("the new code crashed; the previous code works again", fault);
    new ReloadRecord(this.status, "crash").reject(fault);
  }

  #counted(result: ReloadResult): ReloadResult {
    this.#reloadCount++;
    return result;
  }

  #assertEnabled(): void {
    if (this.#isShutDown) throw new MantelError("reload_failed", "the host stops");
    if (this.view.state !== "disabled") return;
    throw new MantelError("reload_failed", `${this.id} is disabled; enable it first`);
  }

  #confinementOf({ manifest }: PluginPackage): ModuleView["confinement"] {
    const { kernel, inspect, config } = this.#parts;
    return confinementOf(manifest, {
      kernelReason: kernel.reason,
      isDebugged: (inspect.get(this.id) ?? config.current.modules[this.id]?.inspect) !== undefined,
      network: networkOf(manifest.permissions ?? {}),
    });
  }

  #createServer(): Server {
    const { id, status, log } = this;
    return new Server(
      {
        id,
        status,
        log,
        versions: this.#versions,
        confirm: () => this.#confirm(),
        onRollback: (previous, fault) => this.#onRollback(previous, fault),
        enqueue: (work) => void this.#queue.take(work),
      },
      this.#parts,
    );
  }
}
