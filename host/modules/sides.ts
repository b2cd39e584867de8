import { MantelError } from "@mantel/plugin-sdk/errors";
import { Earlier } from "./code/earlier.ts";
import type { PluginPackage } from "./code/manifest.ts";
import type { Version } from "./code/version.ts";
import { Offers, type OfferingModule } from "./offers.ts";
import type { ReloadTrigger } from "./receipt.ts";
import { Engine, type EngineOwner, type EngineParts, REGARDLESS } from "./reload/engine.ts";
import type { Swap } from "./reload/server-side.ts";
import type { ModuleFault } from "./view.ts";
import { type WidgetAssets, WidgetSide } from "./widget-side.ts";

export interface SidesParts extends EngineParts {
  readonly assets: WidgetAssets;
}

/** The module whose code it is. */
interface SidesOwner extends Omit<EngineOwner, "earlier" | "wentBack">, OfferingModule {
  /** New code crashed on probation, and the code before it works again. */
  readonly wentBack: (fault: ModuleFault) => void;
}

/** How other code came to run. */
export interface Change {
  /** Absent when no process has changed hands. */
  readonly swap: Swap | undefined;
}

/** What runs of one module: its server side, its widget and what both offer; and what ran before. */
export class Sides {
  readonly engine: Engine | undefined;
  readonly widget: WidgetSide;
  readonly earlier: Earlier;
  readonly #owner: SidesOwner;
  readonly #parts: SidesParts;
  readonly #offers: Offers;
  #plugin: PluginPackage;
  #isBehind = false;

  constructor(plugin: PluginPackage, owner: SidesOwner, parts: SidesParts) {
    this.#plugin = plugin;
    this.#owner = owner;
    this.#parts = parts;
    this.#offers = new Offers(owner, parts);
    this.widget = new WidgetSide(owner.id, { ...parts, log: owner.log });
    this.earlier = new Earlier({ ...owner, lastGoods: parts.lastGoods });
    this.engine = plugin.manifest.server === undefined ? undefined : this.#createEngine();
  }

  /** What runs, or ran last. */
  get plugin(): PluginPackage {
    return this.#plugin;
  }

  /** What is on the disk is not what runs, because that is wrong or somebody went back from it. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** Whether nothing that another module offers keeps this from starting. */
  canStart(plugin: PluginPackage): boolean {
    return this.#offers.canClaim(plugin);
  }

  fellBehind(): void {
    this.#isBehind = true;
  }

  /** The source files of what runs. */
  get inputs(): ReadonlySet<string> {
    return new Set([...(this.engine?.inputs ?? []), ...this.widget.inputs]);
  }

  /**
   * Starts what is on the disk or, where that does not start or somebody went back from it, what ran
   * last. Gives the failure of what is on the disk, when the other had to be taken for that.
   */
  async start(plugin: PluginPackage): Promise<unknown> {
    try {
      this.#offers.claim(plugin);
      await this.earlier.read();
      const last = await this.#parts.lastGoods.versionOf(plugin.id);
      const isHeld = await this.isHeld(plugin);
      const widgetFailure = await this.widget.start(plugin, isHeld);
      const failure = (await this.engine?.start(plugin, isHeld)) ?? widgetFailure;
      this.#run(this.engine?.plugin ?? plugin);
      this.earlier.replaced(last, this.#running);
      this.#isBehind = failure !== undefined || this.earlier.isHeld;
      return failure;
    } catch (error) {
      this.#offers.release();
      throw error;
    }
  }

  /** Takes over what is on the disk; `undefined` when that is what runs. @throws MantelError `reload_failed` */
  async reload(plugin: PluginPackage, trigger: ReloadTrigger): Promise<Change | undefined> {
    const { engine, widget } = this;
    const before = this.#running;
    const bundle = await widget.build(plugin);
    const work = () => engine?.reload(plugin, trigger);
    const swap = await this.#offers.during(plugin, this.#plugin, work);
    const isNewWidget = widget.serve(plugin, bundle);
    const isDescribedAnew = engine === undefined && plugin !== this.#plugin;
    this.#run(plugin);
    this.#isBehind = false;
    if (!swap && !isNewWidget && !isDescribedAnew) return undefined;
    if (!swap || isNewWidget) this.#owner.status.widgetChanged(plugin, engine === undefined);
    this.earlier.replaced(before, this.#running);
    return { swap };
  }

  /** Starts what runs once more, where the config or the SDK is another. @throws MantelError `reload_failed` */
  async goOn(trigger: ReloadTrigger): Promise<Change | undefined> {
    const swap = REGARDLESS.has(trigger) ? await this.engine?.again() : undefined;
    return swap && { swap };
  }

  /** Goes on with what ran before. @throws MantelError `no_earlier_code`, `reload_failed`; what runs goes on */
  async goBack(isWorking: boolean): Promise<Change> {
    const { plugin, server, widget } = this.#toGoBackTo();
    const left = this.#running;
    try {
      const work = () => server && this.engine?.goBack(server);
      const swap = await this.#offers.during(plugin, this.#plugin, work);
      this.widget.serve(plugin, widget);
      this.#run(plugin);
      this.#owner.status.widgetChanged(plugin, server === undefined);
      this.#isBehind = true;
      this.earlier.wentBack(left);
      return { swap };
    } catch (error) {
      if (!isWorking) this.#offers.release();
      throw error;
    }
  }

  /** Whether somebody went back from what is on the disk, and that has not changed since. */
  async isHeld(plugin: PluginPackage): Promise<boolean> {
    if (!this.earlier.isHeld) return false;
    try {
      const server = await this.engine?.builds.compile(plugin);
      return this.earlier.isLeft({ plugin, server, widget: await this.widget.build(plugin) });
    } catch {
      return false; // it has changed, and is wrong
    }
  }

  /** Ends all of it and takes it out of the house. */
  async end(): Promise<void> {
    await this.stop();
    if (this.engine) this.#offers.retract(this.#plugin);
    this.widget.remove();
    await this.#parts.compiler.forget(this.#owner.id);
  }

  /** Ends the process; what was noted is on the disk then. */
  async stop(): Promise<void> {
    await Promise.all([this.engine?.stop(), this.widget.kept(), this.earlier.kept()]);
  }

  get #running(): Version {
    const server = this.engine?.builds.working;
    return { plugin: this.#plugin, server, widget: this.widget.bundle };
  }

  #run(plugin: PluginPackage): void {
    if (this.#plugin !== plugin) this.#offers.replace(this.#plugin, plugin);
    this.#plugin = plugin;
  }

  /** @throws MantelError `no_earlier_code`, also when only another kind of module could run it */
  #toGoBackTo(): Version {
    const { version } = this.earlier;
    if (version && canBecome(this.#plugin, version.plugin)) return version;
    const { id } = this.#owner;
    throw new MantelError("no_earlier_code", `${id} has no earlier code to go back to`);
  }

  #createEngine(): Engine {
    const owner: EngineOwner = {
      ...this.#owner,
      earlier: () => this.earlier.version?.server,
      wentBack: (fault, previous) => {
        this.#isBehind = true;
        this.earlier.forget();
        this.#run(previous);
        this.#owner.wentBack(fault);
      },
    };
    return new Engine(owner, this.#parts);
  }
}

/** Whether another manifest, or folder, can take over without a stop: it is the same plugin still. */
export function canBecome({ manifest }: PluginPackage, next: PluginPackage): boolean {
  const { server, bridge } = manifest;
  const isSameSides = (server === undefined) === (next.manifest.server === undefined);
  return isSameSides && bridge?.kind === next.manifest.bridge?.kind;
}
