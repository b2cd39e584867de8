import { MantelError } from "@mantel/plugin-sdk/errors";
import type { PluginApi } from "@mantel/plugin-sdk/protocol";
import { Turns } from "../documents/turns.ts";
import type { HostLog } from "../log.ts";
import type { Called } from "./calls.ts";
import { Engine, type EngineOwner, type EngineParts } from "./engine.ts";
import { retract } from "./host-api.ts";
import { ModuleLog } from "./logs.ts";
import type { PluginPackage } from "./manifest.ts";
import { Unconfigured } from "./prepare.ts";
import { ReloadRecord, type ReloadTrigger } from "./receipt.ts";
import { ModuleStatus, toFault } from "./status.ts";
import type { ModuleFault, ModuleState, ModuleView, ReloadReceipt } from "./view.ts";
import { type WidgetAssets, WidgetSide } from "./widget-side.ts";

export interface ModuleParts extends EngineParts {
  readonly assets: WidgetAssets;
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

/** One installed plugin as the host runs it. Its starts, reloads and stops happen one after the other. */
export class Module {
  readonly plugin: PluginPackage;
  readonly log: ModuleLog;
  readonly #parts: ModuleParts;
  readonly #status: ModuleStatus;
  readonly #engine: Engine | undefined;
  readonly #widget: WidgetSide | undefined;
  readonly #turns = new Turns();
  #running: Promise<ReloadReceipt> | undefined;
  #queued: Promise<ReloadReceipt> | undefined;
  /** What is on the disk is not what runs, because it is wrong. */
  #isBroken = false;
  #reloads = 0;

  constructor(plugin: PluginPackage, parts: ModuleParts) {
    const { server, widget } = plugin.manifest;
    this.plugin = plugin;
    this.#parts = parts;
    this.log = new ModuleLog(parts.log.with({ module: plugin.id }));
    this.#widget = widget === undefined ? undefined : new WidgetSide(plugin, parts.assets);
    this.#status = new ModuleStatus(plugin, {
      changed: () => parts.changed(this),
      widget: () => this.#widget?.view ?? null,
    });
    this.#engine = server === undefined ? undefined : this.#createEngine(server);
  }

  get id(): string {
    return this.plugin.id;
  }

  get view(): ModuleView {
    return this.#status.view;
  }

  /** The state, or while a reload is under way the one before it. */
  get settledState(): ModuleState {
    return this.#status.settledState;
  }

  get isWorking(): boolean {
    return this.#status.isWorking;
  }

  /** True while it is away after a crash, and calls wait because it will soon be back. */
  get isComingBack(): boolean {
    return this.#status.isComingBack;
  }

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
    return (this.#engine?.uses(file) ?? false) || (this.#widget?.inputs.has(file) ?? false);
  }

  /** Compiles and starts. A failure becomes the module's state and is not thrown. */
  start(): Promise<void> {
    return this.#turns.take(() => this.#start().catch(() => undefined)); // the state tells
  }

  /**
   * Reloads what has changed. Requests that come while one waits for its turn are that one.
   * @throws MantelError `reload_failed` when the new code did not start; the old code goes on
   */
  reload(trigger: ReloadTrigger): Promise<ReloadReceipt> {
    const underWay = this.#running;
    this.#queued ??= this.#turns
      .take(() => {
        this.#running = this.#queued;
        this.#queued = undefined;
        return this.#reload(trigger, underWay);
      })
      .finally(() => {
        this.#running = undefined;
      });
    return this.#queued;
  }

  /** Ends its work and takes what it published out of the house. */
  stop(reason?: string): Promise<void> {
    return this.#turns.take(async () => {
      this.#status.become("stopping");
      await this.#engine?.stop();
      if (this.#engine) retract(this.id, this.plugin.manifest, this.#parts);
      this.#widget?.remove();
      await this.#parts.compiler.forget(this.id);
      this.#status.become("disabled", reason === undefined ? null : { message: reason });
    });
  }

  /** Ends its process and keeps what it published: the host itself is stopping. */
  shutDown(): Promise<void> {
    return this.#turns.take(async () => this.#engine?.stop());
  }

  /** Notes that its folder cannot be a plugin any more; what runs goes on. */
  rejectChange(error: MantelError): void {
    this.#isBroken = true;
    new ReloadRecord(this.#status, "file").failed(error);
  }

  /** Resolves when calls need not wait; `undefined` when they need not now. @throws MantelError `module_down` */
  ready(): Promise<void> | undefined {
    return this.#engine?.server.ready();
  }

  /** Calls the live generation. @throws MantelError as `Calls.call` */
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
    this.#status.become("loading");
    try {
      this.#parts.services.claim(this);
      await this.#widget?.build();
      const failure = await this.#engine?.start();
      this.#isBroken = failure !== undefined;
      this.#status.started();
      if (failure !== undefined) this.#stayBehind(failure);
    } catch (error) {
      this.#parts.services.release(this.id);
      const state = error instanceof Unconfigured ? "unconfigured" : "failed";
      this.#status.become(state, toFault(error));
      this.#say("the module did not start", toFault(error));
      throw error;
    }
  }

  /** The code on the disk is wrong, and what ran before works. */
  #stayBehind(failure: unknown): void {
    this.#say(
      "what is on the disk does not start, and what ran before works again",
      toFault(failure),
    );
    new ReloadRecord(this.#status, "file").failed(failure);
  }

  async #reload(
    trigger: ReloadTrigger,
    underWay: Promise<ReloadReceipt> | undefined,
  ): Promise<ReloadReceipt> {
    if (this.view.state === "disabled") {
      throw new MantelError("reload_failed", `${this.id} is disabled; enable it first`);
    }
    const record = new ReloadRecord(this.#status, trigger);
    try {
      if (this.isWorking) return await this.#replace(trigger, record, underWay);
      await this.#start();
      return record.reloaded();
    } catch (error) {
      this.#isBroken = true;
      if (this.isWorking) {
        this.#say("the new code did not start, and the old code goes on", toFault(error));
      }
      throw record.failed(error);
    }
  }

  async #replace(
    trigger: ReloadTrigger,
    record: ReloadRecord,
    underWay: Promise<ReloadReceipt> | undefined,
  ): Promise<ReloadReceipt> {
    const isNewWidget = (await this.#widget?.build()) ?? false;
    const swap = await this.#engine?.reload(trigger);
    const isMended = this.#isBroken;
    this.#isBroken = false;
    if (!swap && !isNewWidget) {
      // A request that joined a reload of the same content has that reload's receipt; a second event
      // of one save is not worth a line.
      const joined = await underWay?.catch(() => undefined);
      return joined ?? record.unchanged(trigger !== "file" || isMended);
    }
    if (!swap) this.#status.widgetChanged(this.#engine === undefined);
    this.#reloads++;
    return record.reloaded(swap);
  }

  #createEngine(entry: string): Engine {
    const owner: EngineOwner = {
      ...{ plugin: this.plugin, entry, status: this.#status, log: this.log },
      wentBack: (fault) => {
        this.#isBroken = true;
        this.#say("the new code crashed, and the code before it works again", fault);
        new ReloadRecord(this.#status, "crash").notGood(fault);
      },
      say: (sentence, fault) => this.#say(sentence, fault),
      inOrder: (work) => void this.#turns.take(work),
    };
    return new Engine(owner, this.#parts);
  }

  #say(sentence: string, fault: ModuleFault): void {
    this.log.record({ level: "error", sentence, fields: { ...fault } });
  }
}
