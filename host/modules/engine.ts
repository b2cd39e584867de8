import type { ConfigStore } from "../config/store.ts";
import type { Build, Compiler } from "./compile.ts";
import type { Generation } from "./generation.ts";
import { hostApi, type HostParts } from "./host-api.ts";
import { installMissing } from "./install.ts";
import type { LastGoods } from "./last-good.ts";
import type { ModuleLog } from "./logs.ts";
import type { PluginPackage } from "./manifest.ts";
import { Preparation, Unconfigured } from "./prepare.ts";
import type { ReloadTrigger } from "./receipt.ts";
import { Recovery } from "./recovery.ts";
import { ServerSide, type Swap } from "./server-side.ts";
import type { Spare } from "./spare.ts";
import type { ModuleStatus } from "./status.ts";
import type { ModuleFault } from "./view.ts";

/** Reloads for these reasons happen even when the code is the same. */
const REGARDLESS: ReadonlySet<ReloadTrigger> = new Set(["config", "sdk"]);

export interface EngineParts extends HostParts {
  readonly compiler: Compiler;
  readonly spare: Spare;
  readonly lastGoods: LastGoods;
  readonly config: ConfigStore;
  readonly dataFolder: string;
}

/** The module an engine drives. */
export interface EngineOwner {
  readonly plugin: PluginPackage;
  /** The server entry, relative to the plugin's folder. */
  readonly entry: string;
  readonly status: ModuleStatus;
  readonly log: ModuleLog;
  /** New code crashed on probation, and the code before it works again. */
  readonly wentBack: (fault: ModuleFault) => void;
  readonly say: (sentence: string, fault: ModuleFault) => void;
  /** Does `work` when nothing else changes the module. */
  readonly inOrder: (work: () => Promise<void>) => void;
}

/** The server half of a module: its code, its processes, and what brings it back after a crash. */
export class Engine {
  readonly server: ServerSide;
  readonly recovery: Recovery;
  readonly #plugin: PluginPackage;
  readonly #entry: string;
  readonly #parts: EngineParts;
  readonly #status: ModuleStatus;
  readonly #log: ModuleLog;
  /** The build that runs, or ran last. */
  #build: Build | undefined;
  /** The build that ran before that one. */
  #before: Build | undefined;
  /** The last build that did not start; a second event of the same save does not try it again. */
  #refused: { readonly hash: string; readonly error: unknown } | undefined;

  constructor(owner: EngineOwner, parts: EngineParts) {
    this.#plugin = owner.plugin;
    this.#entry = owner.entry;
    this.#parts = parts;
    this.#status = owner.status;
    this.#log = owner.log;
    this.server = this.#createServerSide(owner);
    this.recovery = new Recovery({
      server: this.server,
      status: owner.status,
      build: () => this.#build,
      wentBack: (previous, fault) => {
        this.#build = previous;
        void this.#keep(previous);
        owner.wentBack(fault);
      },
      gaveUp: () => parts.services.release(owner.plugin.id),
      say: owner.say,
      inOrder: owner.inOrder,
    });
  }

  /** Whether the file is part of the code that runs. */
  uses(file: string): boolean {
    return this.#build?.inputs.has(file) ?? false;
  }

  /**
   * Starts what is on the disk or, when that does not start, what ran last before the host ended.
   * Gives the failure of what is on the disk, when the other had to be taken.
   */
  async start(): Promise<unknown> {
    this.recovery.forgive();
    try {
      this.#build = await this.#compile();
      await this.server.start(this.#build);
      await this.#keep(this.#build);
      return undefined;
    } catch (error) {
      const good = await this.#parts.lastGoods.of(this.#plugin.id);
      if (!good || error instanceof Unconfigured) throw error;
      await this.server.start(good.build);
      this.#build = good.build;
      return error;
    } finally {
      this.server.letGo();
      await this.#tidy();
    }
  }

  /** Replaces the live generation when there is a reason to; `undefined` when there is none. */
  async reload(trigger: ReloadTrigger): Promise<Swap | undefined> {
    const build = await this.#compile();
    const isSame = build.hash === this.#build?.hash && this.#status.view.state === "active";
    if (isSame && !REGARDLESS.has(trigger)) return undefined;
    if (trigger === "file" && this.#refused?.hash === build.hash) throw this.#refused.error;
    this.#status.become("reloading");
    try {
      const swap = await this.#swapTo(build);
      this.#before = this.#build;
      this.#build = build;
      await this.#keep(build);
      this.recovery.forgive();
      this.#status.started();
      return swap;
    } finally {
      await this.#tidy();
    }
  }

  /** Ends the process, and with it all that could bring it back. */
  async stop(): Promise<void> {
    this.recovery.cancel();
    await this.server.stop();
  }

  /** Leaves no code on the disk but what runs and what ran before, and a spare for the next reload. */
  async #tidy(): Promise<void> {
    void this.#parts.spare.warm(this.#memoryMiB);
    const kept = [this.#build?.hash ?? "", this.#before?.hash ?? ""];
    await this.#parts.compiler.prune(this.#plugin.id, kept);
  }

  get #memoryMiB(): number {
    return this.#status.view.limits.memoryMiB;
  }

  async #swapTo(build: Build): Promise<Swap> {
    try {
      const swap = await this.server.reload(build);
      this.#refused = undefined;
      return swap;
    } catch (error) {
      this.#refused = { hash: build.hash, error };
      throw error;
    }
  }

  /** The build works, and goes on working when the disk has no room to note that. */
  async #keep(build: Build): Promise<void> {
    try {
      await this.#parts.lastGoods.keep(this.#plugin, build);
    } catch (error) {
      const fields = { reason: (error as Error).message };
      this.#log.record({ level: "warn", sentence: "no code is kept to go back to", fields });
    }
  }

  async #compile(): Promise<Build> {
    await installMissing(this.#plugin.folder, (sentence) =>
      this.#log.record({ level: "info", sentence }),
    );
    return this.#parts.compiler.compile(this.#plugin.id, this.#plugin.folder, this.#entry);
  }

  #createServerSide({ log, status, inOrder }: EngineOwner): ServerSide {
    const warn = (sentence: string, error: unknown): void =>
      log.record({ level: "warn", sentence, fields: { error: String(error) } });
    const preparation = new Preparation(this.#plugin, {
      ...this.#parts,
      memoryMiB: this.#memoryMiB,
      warn,
      printed: (sentence) => log.record({ level: "info", sentence }),
      apiFor: (generation) => this.#apiFor(generation, log),
    });
    return new ServerSide(this.#plugin, preparation, {
      warn,
      onCrash: (fault) => inOrder(() => this.recovery.crashed(fault)),
      onFigures: (figures) => status.uses(figures),
      onSpeaker: () => status.forgetDegraded(),
    });
  }

  #apiFor(generation: Generation, log: ModuleLog): ReturnType<typeof hostApi> {
    const { id, manifest } = this.#plugin;
    const caller = {
      ...{ id, manifest, log },
      isLive: () => this.server.hears(generation),
      degraded: (reason: string | undefined) => this.#status.degraded(reason),
    };
    return hostApi(caller, this.#parts);
  }
}
