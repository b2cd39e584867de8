import { MantelError } from "@mantel/plugin-sdk/errors";
import { Turns } from "@mantel/plugin-sdk/turns";
import { NameTaken } from "../services/registry.ts";
import type { PluginPackage } from "./code/manifest.ts";
import type { ModuleLog } from "./logs.ts";
import { ReloadRecord, type ReloadTrigger } from "./receipt.ts";
import { ReloadTurns } from "./reload-turns.ts";
import { type ModuleWork, NO_CALLS } from "./reload/calls.ts";
import { isSetUp, Unconfigured } from "./reload/prepare.ts";
import type { ServerSide } from "./reload/server-side.ts";
import { canBecome, Sides, type SidesParts } from "./sides.ts";
import { ModuleStatus, toFault } from "./status.ts";
import type { Trials } from "./trials.ts";
import { limitsIn, type ModuleFault, type ModuleView, type ReloadReceipt } from "./view.ts";

export interface ModuleParts extends SidesParts {
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
  readonly #sides: Sides;
  /** What is on the disk. */
  #wanted: PluginPackage;
  readonly #turns = new Turns();
  readonly #reloads = new ReloadTurns(
    (work) => this.#turns.take(work),
    (trigger, underWay) => this.#reload(trigger, underWay),
  );
  #reloaded = 0;
  #isShutDown = false;
  /** Its last start failed because another module provides what it is to provide. */
  #isHeldUp = false;

  constructor(plugin: PluginPackage, parts: ModuleParts) {
    this.id = plugin.id;
    this.#wanted = plugin;
    this.#parts = parts;
    this.log = parts.log;
    this.status = new ModuleStatus(plugin, {
      changed: () => parts.changed(this),
      widget: () => this.#sides.widget.view,
      limitsOf: (which) => limitsIn(parts.config.current, which),
    });
    this.#sides = this.#createSides(plugin);
  }

  /** The plugin as it runs or, while it does not, as it is on the disk. */
  get plugin(): PluginPackage {
    return this.isWorking ? this.#sides.plugin : this.#wanted;
  }

  get view(): ModuleView {
    return this.status.view;
  }

  get isWorking(): boolean {
    return this.status.isWorking;
  }

  /** It rests, or did not start because of another module, which is in its way no more. */
  get canStart(): boolean {
    return this.view.state === "disabled" || (this.#isHeldUp && this.#sides.canStart(this.#wanted));
  }

  get work(): ModuleWork {
    const counts = this.#sides.engine?.server.counts ?? NO_CALLS;
    return { id: this.id, reloads: this.#reloaded, logDrops: this.log.dropped, ...counts };
  }

  /** The source files of what runs. */
  get inputs(): ReadonlySet<string> {
    return this.#sides.inputs;
  }

  /** Whether its next code may be made of other files: they are not what runs, or just being compiled. */
  get mayUseAny(): boolean {
    return this.#sides.isBehind || !this.isWorking || this.#reloads.isRunning;
  }

  /** Whether another manifest, or folder, can take over without a stop: it is the same plugin still. */
  canBecome(plugin: PluginPackage): boolean {
    return canBecome(this.#wanted, plugin);
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

  /**
   * Goes on with the code that ran before, until the files change or a reload is asked for.
   * @throws MantelError `no_earlier_code`; `reload_failed` when that did not start: what runs goes on
   */
  rollBack(): Promise<ReloadReceipt> {
    return this.#turns.take(() => this.#rollBack());
  }

  /** Ends its work and takes what it published out of the house. */
  stop(reason?: string): Promise<void> {
    return this.#turns.take(async () => {
      this.status.become("stopping");
      await this.#sides.end();
      this.status.become("disabled", reason === undefined ? null : { message: reason });
    });
  }

  /** Ends its process and keeps what it published: the host stops. */
  readonly shutDown = (): Promise<void> => {
    this.#isShutDown = true;
    return this.#turns.take(() => this.#sides.stop());
  };

  /** Notes, after a reload under way, that its folder cannot be a plugin any more; what runs goes on. */
  readonly rejectChange = (error: MantelError): Promise<void> =>
    this.#turns.take(async () => {
      this.#sides.fellBehind();
      new ReloadRecord(this.status, "file").failed(error);
    });

  /** What of its code can be tried out; `undefined` for a module without a server side. */
  get trials(): Trials | undefined {
    return this.#sides.engine?.trials;
  }

  /** Resolves when calls need not wait; `undefined` when they need not now. @throws MantelError `module_down` */
  readonly ready = (): Promise<void> | undefined => this.#sides.engine?.server.ready();

  /** Calls the live generation. @throws MantelError as `Calls.call` */
  readonly call: ServerSide["call"] = (...asked) =>
    this.#sides.engine?.server.call(...asked) ??
    Promise.reject(new MantelError("module_down", `${this.id} has no server side`));

  async #start(): Promise<void> {
    this.status.describe(this.#wanted);
    this.status.become("loading");
    this.#isHeldUp = false;
    try {
      const failure = await this.#sides.start(this.#wanted);
      this.status.started(this.#sides.plugin);
      if (failure !== undefined) this.#stayBehind(failure);
    } catch (error) {
      this.#isHeldUp = error instanceof NameTaken;
      this.status.become(error instanceof Unconfigured ? "unconfigured" : "failed", toFault(error));
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
    this.#assertEnabled();
    if (trigger === "request") this.#sides.earlier.release();
    const record = new ReloadRecord(this.status, trigger);
    try {
      const isToEnd = !isSetUp(this.#wanted, this.#parts.config);
      if (this.isWorking && !isToEnd) return await this.#replace(trigger, record, underWay);
      if (isToEnd) await this.#sides.end();
      await this.#start();
      return record.reloaded();
    } catch (error) {
      this.#sides.fellBehind();
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
    const [plugin, sides] = [this.#wanted, this.#sides];
    const isHeld = await sides.isHeld(plugin);
    const isMended = isHeld ? this.view.lastReload?.error !== undefined : sides.isBehind;
    const change = isHeld ? await sides.goOn(trigger) : await sides.reload(plugin, trigger);
    if (change) return this.#changed(record.reloaded(change.swap));
    // A request that joined a reload of the same content has that reload's receipt; a second event
    // of one save is not worth a line.
    const joined = isHeld ? undefined : await underWay?.catch(() => undefined);
    return joined ?? record.unchanged(trigger !== "file" || isMended);
  }

  async #rollBack(): Promise<ReloadReceipt> {
    this.#assertEnabled();
    const record = new ReloadRecord(this.status, "rollback");
    try {
      const { swap } = await this.#sides.goBack(this.isWorking);
      return this.#changed(record.rolledBack(swap));
    } catch (error) {
      const isKnown = error instanceof MantelError && error.code === "no_earlier_code";
      throw isKnown ? error : record.failed(error);
    }
  }

  #changed(receipt: ReloadReceipt): ReloadReceipt {
    this.#reloaded++;
    return receipt;
  }

  #assertEnabled(): void {
    if (this.#isShutDown) throw new MantelError("reload_failed", "the host stops");
    if (this.view.state !== "disabled") return;
    throw new MantelError("reload_failed", `${this.id} is disabled; enable it first`);
  }

  #createSides(plugin: PluginPackage): Sides {
    const owner = {
      ...{ id: this.id, status: this.status, log: this.log },
      call: this.call,
      wentBack: (fault: ModuleFault) => {
        this.log.fault("the new code crashed, and the code before it works again", fault);
        new ReloadRecord(this.status, "crash").notGood(fault);
      },
      inOrder: (work: () => Promise<void>) => void this.#turns.take(work),
    };
    return new Sides(plugin, owner, this.#parts);
  }
}
