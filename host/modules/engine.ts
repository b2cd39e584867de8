import type { ConfigStore } from "../config/store.ts";
import { tellAdded } from "./added-permissions.ts";
import { type Build, isSameBuild } from "./build.ts";
import type { Compiler } from "./compile.ts";
import type { Generation } from "./generation.ts";
import { hostApi, type HostParts } from "./host-api.ts";
import { installMissing } from "./install.ts";
import type { LastGoods } from "./last-good.ts";
import { tellLeftOpen } from "./left-open.ts";
import type { ModuleLog } from "./logs.ts";
import type { PluginPackage } from "./manifest.ts";
import { Preparation } from "./prepare.ts";
import type { ReloadTrigger } from "./receipt.ts";
import { Recovery } from "./recovery.ts";
import { type ServerEvents, type ServerLimits, ServerSide, type Swap } from "./server-side.ts";
import type { Spare } from "./spare.ts";
import type { ModuleStatus } from "./status.ts";
import { Trials } from "./trials.ts";
import { limitsIn, type ModuleFault } from "./view.ts";

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
  /** Does `work` when nothing else changes the module. */
  readonly inOrder: (work: () => Promise<void>) => void;
}

/** The server half of a module: its code, its processes, and what brings it back after a crash. */
export class Engine {
  readonly server: ServerSide;
  readonly recovery: Recovery;
  readonly trials: Trials;
  readonly #id: string;
  readonly #parts: EngineParts;
  readonly #status: ModuleStatus;
  readonly #log: ModuleLog;
  readonly #preparation: Preparation;
  /** The build that runs, or ran last. */
  #build: Build | undefined;
  /** The build that ran before that one. */
  #before: Build | undefined;
  /** The last build that did not start; a second event of the same save does not try it again. */
  #refused: { readonly build: Build; readonly error: unknown } | undefined;

  constructor(owner: EngineOwner, parts: EngineParts) {
    this.#id = owner.id;
    this.#parts = parts;
    this.#status = owner.status;
    this.#log = owner.log;
    this.#preparation = this.#createPreparation();
    this.server = this.#createServerSide(owner);
    const [preparation, build] = [this.#preparation, () => this.#build];
    this.trials = new Trials({ id: owner.id, config: parts.config, preparation, build });
    this.recovery = new Recovery({
      server: this.server,
      status: owner.status,
      build: () => this.#build,
      wentBack: (previous, fault) => {
        this.#build = previous;
        this.#status.asksFor([]);
        void this.#keep(previous);
        owner.wentBack(fault, previous.plugin);
      },
      gaveUp: () => parts.services.release(owner.id),
      say: owner.log.fault,
      inOrder: owner.inOrder,
    });
  }

  /** The source files of the code that runs. */
  get inputs(): ReadonlySet<string> {
    return this.#build?.inputs ?? new Set();
  }

  /** The plugin whose code runs, or ran last. */
  get plugin(): PluginPackage | undefined {
    return this.#build?.plugin;
  }

  /**
   * Starts what is on the disk or, when that does not start, what ran last before the host ended: its
   * code, its manifest and, when what is set now is wrong, its config. Gives the failure of what is on
   * the disk, when the other had to be taken.
   */
  async start(plugin: PluginPackage): Promise<unknown> {
    this.recovery.forgive();
    const good = await this.#parts.lastGoods.of(this.#id);
    try {
      await this.#startBuild(await this.#compile(plugin));
      tellAdded(good?.plugin, plugin, { status: this.#status, log: this.#log });
      return undefined;
    } catch (error) {
      if (!good) throw error;
      await this.#startGood(good, error);
      return error;
    } finally {
      this.server.letGo();
      await this.#tidy();
    }
  }

  /** Replaces the live generation when there is a reason to; `undefined` when there is none. */
  async reload(plugin: PluginPackage, trigger: ReloadTrigger): Promise<Swap | undefined> {
    this.#preparation.warm(); // while the compiler works, when the spare is another's
    const build = await this.#compile(plugin);
    const isSame = isSameBuild(build, this.#build) && this.#status.view.state === "active";
    if (isSame && !REGARDLESS.has(trigger)) return undefined;
    if (trigger === "file" && this.#refused && isSameBuild(build, this.#refused.build)) {
      await this.#tidy(); // the compiler has written it once more
      throw this.#refused.error;
    }
    this.#status.become("reloading");
    try {
      const swap = await this.#swapTo(build);
      this.#before = this.#build;
      this.#build = build;
      await this.#keep(build);
      this.recovery.forgive();
      tellAdded(this.#before?.plugin, plugin, { status: this.#status, log: this.#log });
      this.#status.started(plugin);
      tellLeftOpen(swap.leftOpen, this.#log);
      return swap;
    } finally {
      this.#preparation.warm();
      await this.#tidy();
    }
  }

  /** Ends the process, and with it all that could bring it back. */
  async stop(): Promise<void> {
    this.recovery.cancel();
    await this.trials.close();
    await this.server.stop();
  }

  async #startBuild(build: Build): Promise<void> {
    this.#build = build;
    await this.server.start(build);
    await this.#keep(build);
  }

  /** @throws `reason` when what ran last does not start either: that is for its author to mend */
  async #startGood(good: Build, reason: unknown): Promise<void> {
    await this.server.start(good).catch(() => {
      throw reason;
    });
    this.#build = good;
  }

  /** Leaves no code on the disk but what runs and what ran before. */
  async #tidy(): Promise<void> {
    const { compiler, lastGoods } = this.#parts;
    const kept = [this.#build, this.#before].filter((build) => build !== undefined);
    const hasUnused = await compiler.prune(this.#id, kept);
    if (hasUnused) await compiler.pruneVendors(await lastGoods.vendors());
  }

  /** The limits as the config has them now; what is working keeps those it started with. */
  #limitsOf(plugin: PluginPackage): ServerLimits {
    const config = this.#parts.config.current;
    const given = config.modules[plugin.id]?.limits?.startMs ?? plugin.manifest.limits?.startMs;
    return { ...limitsIn(config, plugin), reloadStartMs: given ?? RELOAD_START_MS };
  }

  async #swapTo(build: Build): Promise<Swap> {
    try {
      const swap = await this.server.reload(build);
      this.#refused = undefined;
      return swap;
    } catch (error) {
      this.#refused = { build, error };
      throw error;
    }
  }

  async #keep(build: Build): Promise<void> {
    const { lastGoods, config } = this.#parts;
    await lastGoods.keep(build, config.sectionOf(this.#id), this.#log);
  }

  async #compile(plugin: PluginPackage): Promise<Build> {
    const { id, folder, manifest } = plugin;
    await installMissing(folder, {
      doing: (sentence) => {
        this.#status.doing(sentence);
        this.#log.record({ level: "info", sentence: sentence ?? "the installation is over" });
      },
      warn: (sentence, fields) => this.#log.record({ level: "warn", sentence, fields }),
    });
    const bundle = await this.#parts.compiler.compile(id, folder, manifest.server ?? "");
    return { ...bundle, plugin };
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
