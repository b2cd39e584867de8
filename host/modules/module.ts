import { MantelError } from "@mantel/plugin-sdk/errors";
import type { PluginApi } from "@mantel/plugin-sdk/protocol";
import type { ConfigStore } from "../config/store.ts";
import type { HostLog } from "../log.ts";
import type { Build, Compiler } from "./compile.ts";
import { hostApi, type HostParts } from "./host-api.ts";
import { ModuleLog } from "./logs.ts";
import type { PluginPackage } from "./manifest.ts";
import { Preparation, Unconfigured } from "./prepare.ts";
import { ReloadRecord, type ReloadTrigger } from "./receipt.ts";
import { Recovery } from "./recovery.ts";
import { type Called, ServerSide, type Swap } from "./server-side.ts";
import type { Spare } from "./spare.ts";
import { ModuleStatus, toFault } from "./status.ts";
import type { ModuleState, ModuleView, ReloadReceipt } from "./view.ts";
import { type WidgetAssets, WidgetSide } from "./widget-side.ts";

export interface ModuleParts extends HostParts {
  readonly compiler: Compiler;
  readonly spare: Spare;
  readonly config: ConfigStore;
  readonly assets: WidgetAssets;
  readonly dataFolder: string;
  readonly log: HostLog;
  /** Called after each change of the view. */
  readonly changed: (module: Module) => void;
}

/** What a module has done since the host started. */
export interface ModuleWork {
  readonly id: string;
  readonly calls: number;
  readonly errors: number;
  readonly drops: number;
  readonly reloads: number;
}

/** A module's server side with what brings it back after a crash. */
interface Engine {
  readonly server: ServerSide;
  readonly recovery: Recovery;
  readonly entry: string;
}

/** One installed plugin as the host runs it. Its starts, reloads and stops happen one after the other. */
export class Module {
  readonly plugin: PluginPackage;
  readonly log: ModuleLog;
  readonly #parts: ModuleParts;
  readonly #status: ModuleStatus;
  readonly #engine: Engine | undefined;
  readonly #widget: WidgetSide | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #running: Promise<ReloadReceipt> | undefined;
  #queued: Promise<ReloadReceipt> | undefined;
  /** The build that runs, or ran last. */
  #build: Build | undefined;
  /** What is on the disk is not what runs, because it is wrong. */
  #isBroken = false;
  /** The last build that did not start; a second event of the same save does not try it again. */
  #refused: { readonly hash: string; readonly error: unknown } | undefined;
  #reloads = 0;

  constructor(plugin: PluginPackage, parts: ModuleParts) {
    this.plugin = plugin;
    this.#parts = parts;
    this.log = new ModuleLog(parts.log.with({ module: plugin.id }));
    this.#widget = plugin.manifest.widget === undefined ? undefined : new WidgetSide(plugin, parts.assets);
    this.#status = new ModuleStatus(plugin, {
      changed: () => parts.changed(this),
      widget: () => this.#widget?.view ?? null,
    });
    const entry = plugin.manifest.server;
    if (entry !== undefined) this.#engine = this.#createEngine(entry);
  }

  get id(): string {
    return this.plugin.id;
  }

  get view(): ModuleView {
    return this.#status.view;
  }

  get settledState(): ModuleState {
    return this.#status.settledState;
  }

  get isWorking(): boolean {
    return this.#status.isWorking;
  }

  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** What it has done since the host started. */
  get work(): ModuleWork {
    const counts = this.#engine?.server.counts ?? { calls: 0, errors: 0, drops: 0 };
    return { id: this.id, reloads: this.#reloads, ...counts };
  }

  /** Names of the services and publications it offers. */
  get provides(): readonly string[] {
    return this.plugin.manifest.provides ?? [];
  }

  /** Whether a change of this file may change the module; when its code is broken, any file may mend it. */
  concerns(file: string): boolean {
    if (this.#isBroken || !this.isWorking) return true;
    return (this.#build?.inputs.has(file) ?? false) || (this.#widget?.inputs.has(file) ?? false);
  }

  /** Compiles and starts. A failure becomes the module's state and is not thrown. */
  start(): Promise<void> {
    return this.#inOrder(async () => {
      await this.#start().catch(() => undefined); // the state tells
    });
  }

  /**
   * Reloads what has changed. Requests that come while one waits for its turn are that one.
   * @throws MantelError `reload_failed` when the new code did not start; the old code goes on
   */
  reload(trigger: ReloadTrigger): Promise<ReloadReceipt> {
    const underWay = this.#running;
    this.#queued ??= this.#inOrder(() => {
      this.#running = this.#queued;
      this.#queued = undefined;
      return this.#reload(trigger, underWay);
    }).finally(() => {
      this.#running = undefined;
    });
    return this.#queued;
  }

  /** Ends its work and takes its devices, scenes and services out of the house. */
  stop(reason?: string): Promise<void> {
    return this.#inOrder(async () => {
      this.#status.become("stopping");
      this.#engine?.recovery.cancel();
      this.#parts.services.release(this.id);
      await this.#engine?.server.stop();
      this.#parts.devices.removeBridge(this.id);
      this.#parts.scenes.removeBridge(this.id);
      this.#widget?.remove();
      await this.#parts.compiler.forget(this.id);
      this.#status.become("disabled", reason === undefined ? null : { message: reason });
    });
  }

  /** Ends its process and keeps what it published: the host itself is stopping. */
  shutDown(): Promise<void> {
    return this.#inOrder(async () => {
      this.#engine?.recovery.cancel();
      await this.#engine?.server.stop();
    });
  }

  /** Notes that its folder cannot be a plugin any more; what runs goes on. */
  rejectChange(error: MantelError): void {
    this.#isBroken = true;
    new ReloadRecord(this.#status, "file").failed(error);
  }

  /** Calls the live generation. @throws MantelError `module_down`, `deadline_passed` or the plugin's own */
  async call<M extends Called>(
    method: M,
    input: Parameters<PluginApi[M]>[0],
    deadlineMs?: number,
  ): Promise<Awaited<ReturnType<PluginApi[M]>>> {
    if (!this.#engine) throw new MantelError("module_down", `${this.id} has no server side`);
    return this.#engine.server.call(method, input, deadlineMs);
  }

  callService(name: string, input: unknown, deadlineMs: number | undefined): Promise<unknown> {
    return this.call("callService", { name, input }, deadlineMs);
  }

  async #start(): Promise<void> {
    this.#engine?.recovery.forgive();
    this.#status.become("loading");
    try {
      this.#parts.services.claim(this);
      await this.#widget?.build();
      if (this.#engine) {
        this.#build = await this.#compile(this.#engine.entry);
        await this.#engine.server.start(this.#build);
      }
      this.#isBroken = false;
      this.#status.started();
    } catch (error) {
      this.#parts.services.release(this.id);
      this.#status.become(error instanceof Unconfigured ? "unconfigured" : "failed", toFault(error));
      this.#say("the module did not start", error);
      throw error;
    }
  }

  async #reload(
    trigger: ReloadTrigger,
    underWay: Promise<ReloadReceipt> | undefined,
  ): Promise<ReloadReceipt> {
    const record = new ReloadRecord(this.#status, trigger);
    try {
      if (!this.isWorking) {
        await this.#start();
        return record.reloaded();
      }
      const widgetChanged = (await this.#widget?.build()) ?? false;
      const swap = await this.#reloadServer(trigger);
      this.#isBroken = false;
      if (widgetChanged && !swap) this.#status.widgetChanged();
      if (swap || widgetChanged) {
        this.#reloads++;
        return record.reloaded(swap);
      }
      // A request that joined a reload of the same content has that reload's receipt.
      return (await underWay?.catch(() => undefined)) ?? record.unchanged();
    } catch (error) {
      this.#isBroken = true;
      if (this.isWorking) this.#say("the new code did not start, and the old code goes on", error);
      throw record.failed(error);
    }
  }

  async #reloadServer(trigger: ReloadTrigger): Promise<Swap | undefined> {
    if (!this.#engine) return undefined;
    const build = await this.#compile(this.#engine.entry);
    const isSame = build.hash === this.#build?.hash && this.view.state === "active";
    if (isSame && trigger !== "config" && trigger !== "sdk") return undefined;
    if (trigger === "file" && this.#refused?.hash === build.hash) throw this.#refused.error;
    this.#status.become("reloading");
    const swap = await this.#engine.server.reload(build).catch((error: unknown) => {
      this.#refused = { hash: build.hash, error };
      throw error;
    });
    this.#refused = undefined;
    await this.#parts.compiler.prune(this.id, [build.hash, this.#build?.hash ?? build.hash]);
    this.#build = build;
    this.#engine.recovery.forgive();
    this.#status.started();
    void this.#parts.spare.warm(this.view.limits.memoryMiB);
    return swap;
  }

  #compile(entry: string): Promise<Build> {
    return this.#parts.compiler.compile(this.id, this.plugin.folder, entry);
  }

  #createEngine(entry: string): Engine {
    const server = this.#createServerSide();
    const recovery = new Recovery({
      server,
      status: this.#status,
      build: () => this.#build,
      wentBack: (previous, cause) => {
        this.#build = previous;
        this.#isBroken = true;
        this.#say("the new code crashed, and the code before it works again", cause);
        new ReloadRecord(this.#status, "crash").failed(cause);
      },
      gaveUp: () => this.#parts.services.release(this.id),
      say: (sentence, cause) => this.#say(sentence, cause),
      inOrder: (work) => void this.#inOrder(work),
    });
    return { server, recovery, entry };
  }

  #createServerSide(): ServerSide {
    const warn = (sentence: string, error: unknown) =>
      this.log.record({ level: "warn", sentence, fields: { error: String(error) } });
    const preparation = new Preparation(this.plugin, {
      ...this.#parts,
      memoryMiB: this.view.limits.memoryMiB,
      warn,
      printed: (sentence) => this.log.record({ level: "info", sentence }),
      apiFor: (generation) =>
        hostApi(
          {
            id: this.id,
            manifest: this.plugin.manifest,
            log: this.log,
            isLive: () => this.#engine?.server.hears(generation) ?? false,
            degraded: (reason) => this.#status.degraded(reason),
          },
          this.#parts,
        ),
    });
    return new ServerSide(this.plugin, preparation, {
      warn,
      onCrash: (cause) => void this.#inOrder(async () => this.#engine?.recovery.crashed(cause)),
      onFigures: (figures) => this.#status.uses(figures),
      onSpeaker: () => this.#status.forgetDegraded(),
    });
  }

  #say(sentence: string, error: unknown): void {
    this.log.record({ level: "error", sentence, fields: { ...toFault(error) } });
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => undefined); // whoever asked hears of it
    return done;
  }
}
