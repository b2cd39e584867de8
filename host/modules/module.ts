import { MantelError } from "@mantel/plugin-sdk/errors";
import { Turns } from "@mantel/plugin-sdk/turns";
import { type ModuleWork, NO_CALLS } from "./calls.ts";
import { Engine, type EngineOwner, type EngineParts } from "./engine.ts";
import type { ModuleLog } from "./logs.ts";
import type { PluginPackage } from "./manifest.ts";
import { Offers } from "./offers.ts";
import { isSetUp, Unconfigured } from "./prepare.ts";
import { ReloadRecord, type ReloadTrigger } from "./receipt.ts";
import { ReloadTurns } from "./reload-turns.ts";
import type { ServerSide } from "./server-side.ts";
import { ModuleStatus, toFault } from "./status.ts";
import type { Trials } from "./trials.ts";
import { limitsIn, type ModuleView, type ReloadReceipt } from "./view.ts";
import { type WidgetAssets, WidgetSide } from "./widget-side.ts";

export interface ModuleParts extends EngineParts {
  readonly assets: WidgetAssets;
  readonly log: ModuleLog;
  /** Called after each change of the view. */
  readonly changed: (module: Module) => void;
}

/** One installed plugin as the host runs it. Its starts, reloads and stops happen one after the other. */
export class Module {
  readonly id: string;
  readonly log: ModuleLog;
  readonly #parts: ModuleParts;
  readonly status: ModuleStatus;
  readonly #engine: Engine | undefined;
  readonly #widget: WidgetSide;
  /** What runs, or ran last. */
  #plugin: PluginPackage;
  /** What is on the disk. */
  #wanted: PluginPackage;
  readonly #offers: Offers;
  readonly #turns = new Turns();
  readonly #reloads = new ReloadTurns(
    (work) => this.#turns.take(work),
    (trigger, underWay) => this.#reload(trigger, underWay),
  );
  /** What is on the disk is not what runs, because it is wrong. */
  #isBroken = false;
  #reloaded = 0;

  constructor(plugin: PluginPackage, parts: ModuleParts) {
    this.id = plugin.id;
    this.#plugin = plugin;
    this.#wanted = plugin;
    this.#parts = parts;
    this.log = parts.log;
    this.#offers = new Offers(this, parts);
    this.#widget = new WidgetSide(plugin.id, { ...parts, log: this.log });
    this.status = new ModuleStatus(plugin, {
      changed: () => parts.changed(this),
      widget: () => this.#widget.view,
      limitsOf: (which) => limitsIn(parts.config.current, which),
    });
    this.#engine = plugin.manifest.server === undefined ? undefined : this.#createEngine();
  }

  /** The plugin as it runs or, while it does not, as it is on the disk. */
  get plugin(): PluginPackage {
    return this.isWorking ? this.#plugin : this.#wanted;
  }

  get view(): ModuleView {
    return this.status.view;
  }

  get isWorking(): boolean {
    return this.status.isWorking;
  }

  get work(): ModuleWork {
    const counts = this.#engine?.server.counts ?? NO_CALLS;
    return { id: this.id, reloads: this.#reloaded, logDrops: this.log.dropped, ...counts };
  }

  /** The source files of what runs. */
  get inputs(): ReadonlySet<string> {
    return new Set([...(this.#engine?.inputs ?? []), ...this.#widget.inputs]);
  }

  /** Whether its next code may be made of other files: they are broken, or just being compiled. */
  get mayUseAny(): boolean {
    return this.#isBroken || !this.isWorking || this.#reloads.isRunning;
  }

  /** Whether another manifest, or folder, can take over without a stop: it is the same plugin still. */
  canBecome({ manifest }: PluginPackage): boolean {
    const { server, bridge } = this.#wanted.manifest;
    const isSameSides = (server === undefined) === (manifest.server === undefined);
    return isSameSides && bridge?.kind === manifest.bridge?.kind;
  }

  /** Takes another manifest as what is on the disk: the next start or reload is from it. */
  want(plugin: PluginPackage): void {
    this.#wanted = plugin;
    if (this.view.state === "disabled") this.status.describe(plugin);
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
    return this.#reloads.ask(trigger);
  }

  /** Ends its work and takes what it published out of the house. */
  stop(reason?: string): Promise<void> {
    return this.#turns.take(async () => {
      this.status.become("stopping");
      await this.#end();
      this.status.become("disabled", reason === undefined ? null : { message: reason });
    });
  }

  /** Ends its process and keeps what it published: the host stops. */
  readonly shutDown = (): Promise<unknown> =>
    this.#turns.take(() => Promise.all([this.#engine?.stop(), this.#widget.kept()]));

  /** Notes, after a reload under way, that its folder cannot be a plugin any more; what runs goes on. */
  readonly rejectChange = (error: MantelError): Promise<void> =>
    this.#turns.take(async () => {
      this.#isBroken = true;
      new ReloadRecord(this.status, "file").failed(error);
    });

  /** What of its code can be tried out; `undefined` for a module without a server side. */
  get trials(): Trials | undefined {
    return this.#engine?.trials;
  }

  /** Resolves when calls need not wait; `undefined` when they need not now. @throws MantelError `module_down` */
  readonly ready = (): Promise<void> | undefined => this.#engine?.server.ready();

  /** Calls the live generation. @throws MantelError as `Calls.call` */
  readonly call: ServerSide["call"] = (...asked) =>
    this.#engine?.server.call(...asked) ??
    Promise.reject(new MantelError("module_down", `${this.id} has no server side`));

  async #end(): Promise<void> {
    await this.#engine?.stop();
    if (this.#engine) this.#offers.retract(this.#plugin);
    this.#widget.remove();
    await this.#parts.compiler.forget(this.id);
  }

  async #start(): Promise<void> {
    this.status.describe(this.#wanted);
    this.status.become("loading");
    try {
      this.#offers.claim(this.#wanted);
      const widgetFailure = await this.#widget.start(this.#wanted);
      const failure = (await this.#engine?.start(this.#wanted)) ?? widgetFailure;
      this.#isBroken = failure !== undefined;
      this.#run(this.#engine?.plugin ?? this.#wanted);
      this.status.started(this.#plugin);
      if (failure !== undefined) this.#stayBehind(failure);
    } catch (error) {
      this.#offers.release();
      const state = error instanceof Unconfigured ? "unconfigured" : "failed";
      this.status.become(state, toFault(error));
      const isMeantToRun = isSetUp(this.#wanted, this.#parts.config);
      if (isMeantToRun) this.log.fault("the module did not start", toFault(error));
      throw error;
    }
  }

  /** The code on the disk is wrong, and what ran before works. */
  #stayBehind(failure: unknown): void {
    this.log.fault("what is on the disk does not start; what ran before goes on", toFault(failure));
    new ReloadRecord(this.status, "file").failed(failure);
  }

  async #reload(
    trigger: ReloadTrigger,
    underWay: Promise<ReloadReceipt> | undefined,
  ): Promise<ReloadReceipt> {
    if (this.view.state === "disabled") {
      throw new MantelError("reload_failed", `${this.id} is disabled; enable it first`);
    }
    const record = new ReloadRecord(this.status, trigger);
    try {
      const isToEnd = !isSetUp(this.#wanted, this.#parts.config);
      if (this.isWorking && !isToEnd) return await this.#replace(trigger, record, underWay);
      if (isToEnd) await this.#end();
      await this.#start();
      return record.reloaded();
    } catch (error) {
      this.#isBroken = true;
      if (this.isWorking) {
        this.log.fault("the new code did not start, and the old code goes on", toFault(error));
      }
      throw record.failed(error);
    }
  }

  async #replace(
    trigger: ReloadTrigger,
    record: ReloadRecord,
    underWay: Promise<ReloadReceipt> | undefined,
  ): Promise<ReloadReceipt> {
    const plugin = this.#wanted;
    const widget = await this.#widget.build(plugin);
    const swap = await this.#offers.during(plugin, this.#plugin, () =>
      this.#engine?.reload(plugin, trigger),
    );
    const isNewWidget = this.#widget.serve(plugin, widget);
    const isDescribedAnew = this.#engine === undefined && plugin !== this.#plugin;
    this.#run(plugin);
    const isMended = this.#isBroken;
    this.#isBroken = false;
    if (!swap && !isNewWidget && !isDescribedAnew) {
      // A request that joined a reload of the same content has that reload's receipt; a second event
      // of one save is not worth a line.
      const joined = await underWay?.catch(() => undefined);
      return joined ?? record.unchanged(trigger !== "file" || isMended);
    }
    if (!swap || isNewWidget) this.status.widgetChanged(plugin, this.#engine === undefined);
    this.#reloaded++;
    return record.reloaded(swap);
  }

  #run(plugin: PluginPackage): void {
    if (this.#plugin !== plugin) this.#offers.replace(this.#plugin, plugin);
    this.#plugin = plugin;
  }

  #createEngine(): Engine {
    const owner: EngineOwner = {
      ...{ id: this.id, status: this.status, log: this.log },
      wentBack: (fault, previous) => {
        this.#isBroken = true;
        this.#run(previous);
        this.log.fault("the new code crashed, and the code before it works again", fault);
        new ReloadRecord(this.status, "crash").notGood(fault);
      },
      inOrder: (work) => void this.#turns.take(work),
    };
    return new Engine(owner, this.#parts);
  }
}
