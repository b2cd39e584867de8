import type { ConfigStore } from "../../config/store.ts";
import { tellAdded } from "../added-permissions.ts";
import { type Build, isSameBuild } from "../code/build.ts";
import { Builds } from "../code/builds.ts";
import type { Compiler } from "../code/compile.ts";
import type { LastGoods } from "../code/last-good.ts";
import type { PluginPackage } from "../code/manifest.ts";
import { hostApi, type HostParts } from "../host-api.ts";
import type { ModuleLog } from "../logs.ts";
import type { Generation } from "../process/generation.ts";
import { tellLeftOpen } from "../process/left-open.ts";
import type { Spare } from "../process/spare.ts";
import type { ReloadTrigger } from "../receipt.ts";
import type { ModuleStatus } from "../status.ts";
import { Trials } from "../trials.ts";
import { limitsIn, type ModuleFault } from "../view.ts";
import { Preparation } from "./prepare.ts";
import { Recovery } from "./recovery.ts";
import { type ServerEvents, type ServerLimits, ServerSide, type Swap } from "./server-side.ts";

/** Reloads for these reasons happen even when the code is the same. */
export const REGARDLESS: ReadonlySet<ReloadTrigger> = new Set(["config", "sdk"]);

/** How long a start inside a reload may take when nothing says otherwise: calls wait meanwhile. */
const RELOAD_START_MS = 1_500;

export interface EngineParts extends HostParts {
  readonly compiler: Compiler;
  readonly spare: Spare;
  readonly lastGoods: LastGoods;
  readonly config: ConfigStore;
  readonly dataFolder: string;
  /** Ports at which debuggers may attach, by module id; they go before those of the config. */
  readonly inspect: ReadonlyMap<string, number>;
  readonly cacheFolder: string;
}

/** The module an engine drives. */
export interface EngineOwner {
  readonly id: string;
  readonly status: ModuleStatus;
  readonly log: ModuleLog;
  /** New code crashed on probation, and the code before it works again. */
  readonly wentBack: (fault: ModuleFault, previous: PluginPackage) => void;
  /** What may be gone back to, and so has to be kept. */
  readonly earlier: () => Build | undefined;
  /** Does `work` when nothing else changes the module. */
  readonly inOrder: (work: () => Promise<void>) => void;
}

/** The server half of a module: its code, its processes, and what brings it back after a crash. */
export class Engine {
  readonly server: ServerSide;
  readonly recovery: Recovery;
  readonly trials: Trials;
  readonly #parts: EngineParts;
  readonly #status: ModuleStatus;
  readonly #log: ModuleLog;
  readonly builds: Builds;
  readonly #preparation: Preparation;
  readonly #earlier: EngineOwner["earlier"];

  constructor(owner: EngineOwner, parts: EngineParts) {
    this.#parts = parts;
    this.#status = owner.status;
    this.#log = owner.log;
    this.#earlier = owner.earlier;
    this.builds = new Builds({ ...parts, id: owner.id, status: owner.status, log: owner.log });
    this.#preparation = this.#createPreparation();
    this.server = this.#createServerSide(owner);
    const [preparation, build] = [this.#preparation, () => this.builds.current];
    this.trials = new Trials({ id: owner.id, config: parts.config, preparation, build });
    this.recovery = new Recovery({
      server: this.server,
      status: owner.status,
      build,
      wentBack: (previous, fault) => {
        this.builds.run(previous);
        this.#status.asksFor([]);
        void this.builds.keep();
        owner.wentBack(fault, previous.plugin);
      },
      gaveUp: () => parts.services.release(owner.id),
      say: owner.log.fault,
      inOrder: owner.inOrder,
    });
  }

  /** The source files of the code that runs. */
  get inputs(): ReadonlySet<string> {
    return this.builds.current?.inputs ?? new Set();
  }

  /** The plugin whose code runs, or ran last. */
  get plugin(): PluginPackage | undefined {
    return this.builds.current?.plugin;
  }

  /**
   * Starts what is on the disk or, when that does not start, what ran last before the host ended: its
   * code, its manifest and, when what is set now is wrong, its config. Gives the failure of what is on
   * the disk, when the other had to be taken. `isHeld` says that what ran last comes first.
   */
  async start(plugin: PluginPackage, isHeld: boolean): Promise<unknown> {
    this.recovery.forgive();
    const good = await this.builds.good();
    try {
      if (isHeld && good && (await this.#starts(good))) return undefined;
      await this.#startBuild(await this.builds.compile(plugin));
      tellAdded(good?.plugin, plugin, { status: this.#status, log: this.#log });
      return undefined;
    } catch (error) {
      if (!good || !(await this.#starts(good))) throw error; // that is for its author to mend
      return error;
    } finally {
      this.server.letGo();
      await this.builds.tidy(good, this.#earlier());
    }
  }

  /** Replaces the live generation when there is a reason to; `undefined` when there is none. */
  async reload(plugin: PluginPackage, trigger: ReloadTrigger): Promise<Swap | undefined> {
    this.#preparation.warm(); // while the compiler works, when the spare is another's
    const build = await this.builds.compile(plugin);
    const isSame = isSameBuild(build, this.builds.current);
    const mayHelp = trigger === "request" && this.#status.view.state === "degraded";
    if (isSame && !mayHelp && !REGARDLESS.has(trigger)) return undefined;
    const refusal = trigger === "file" ? this.builds.refusalOf(build) : undefined;
    if (refusal) {
      await this.#tidy(); // the compiler has written it once more
      throw refusal.error;
    }
    try {
      return await this.replaceBy(build);
    } catch (error) {
      this.builds.refuse(build, error);
      throw error;
    }
  }

  /** Hands over to the build that runs, as the config or the SDK is now. */
  async again(): Promise<Swap | undefined> {
    const { current } = this.builds;
    return current && this.replaceBy(current);
  }

  /** Hands over to this build. @throws MantelError `reload_failed`; what runs goes on */
  async replaceBy(build: Build): Promise<Swap> {
    this.#status.become("reloading");
    return this.#preparation.whileReloading(async () => {
      try {
        const swap = await this.server.reload(build);
        await this.#works(build);
        tellLeftOpen(swap.leftOpen, this.#log);
        return swap;
      } finally {
        await this.#tidy();
      }
    });
  }

  /** Goes on with an earlier build, also where nothing runs any more. @throws MantelError `reload_failed` */
  async goBack(build: Build): Promise<Swap | undefined> {
    if (this.server.live) return this.replaceBy(build);
    await this.server.start(build);
    await this.#works(build);
    return undefined;
  }

  /** Ends the process, and with it all that could bring it back. */
  async stop(): Promise<void> {
    this.recovery.cancel();
    await this.trials.close();
    await this.server.stop();
  }

  async #startBuild(build: Build): Promise<void> {
    this.builds.run(build);
    await this.server.start(build);
    await this.builds.keep();
  }

  /** Starts what ran last; false when that does not start either. */
  async #starts(good: Build): Promise<boolean> {
    try {
      await this.server.start(good);
    } catch {
      return false;
    }
    this.builds.restore(good);
    return true;
  }

  /** Another build than before has started. */
  async #works(build: Build): Promise<void> {
    const before = this.builds.current?.plugin;
    this.builds.run(build);
    await this.builds.keep();
    this.recovery.forgive();
    tellAdded(before, build.plugin, { status: this.#status, log: this.#log });
    this.#status.started(build.plugin);
  }

  #tidy(): Promise<void> {
    return this.builds.tidy(this.#earlier());
  }

  /** The limits as the config has them now; what is working keeps those it started with. */
  #limitsOf(plugin: PluginPackage): ServerLimits {
    const config = this.#parts.config.current;
    const given = config.modules[plugin.id]?.limits?.startMs ?? plugin.manifest.limits?.startMs;
    return { ...limitsIn(config, plugin), reloadStartMs: given ?? RELOAD_START_MS };
  }

  #createPreparation(): Preparation {
    return new Preparation({
      ...this.#parts,
      limitsOf: (plugin) => this.#limitsOf(plugin),
      foundTrials: (trials) => this.#status.foundTrials(trials),
      warn: (sentence, error) => this.#warn(sentence, error),
      printed: (sentence, level) => this.#log.record({ level, sentence }),
      apiFor: (generation, plugin) => this.#apiFor(generation, plugin),
    });
  }

  #createServerSide({ id, status, inOrder }: EngineOwner): ServerSide {
    const events: ServerEvents = {
      warn: (sentence, error) => this.#warn(sentence, error),
      onCrash: (fault, since) => inOrder(() => this.recovery.crashed(fault, since)),
      onFigures: (figures) => status.uses(figures),
      onSpeaker: () => status.forgetDegraded(),
    };
    const limitsNow = (plugin: PluginPackage) => this.#limitsOf(plugin);
    return new ServerSide(id, { preparation: this.#preparation, events, limitsOf: limitsNow });
  }

  #warn(sentence: string, error: unknown): void {
    this.#log.record({ level: "warn", sentence, fields: { error: String(error) } });
  }

  #apiFor(generation: Generation, { id, manifest }: PluginPackage): ReturnType<typeof hostApi> {
    const caller = {
      ...{ id, manifest, log: this.#log },
      isLive: () => this.server.hears(generation),
      degraded: (reason: string | undefined) => this.#status.degraded(reason),
    };
    return hostApi(caller, this.#parts);
  }
}
