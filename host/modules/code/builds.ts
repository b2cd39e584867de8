import type { ConfigStore } from "../../config/store.ts";
import type { ModuleLog } from "../logs.ts";
import type { ModuleStatus } from "../status.ts";
import { type Build, isSameBuild, type Section } from "./build.ts";
import type { Compiler } from "./compile.ts";
import { installMissing } from "./install.ts";
import type { LastGoods } from "./last-good.ts";
import type { PluginPackage } from "./manifest.ts";

interface BuildsParts {
  readonly id: string;
  readonly compiler: Compiler;
  readonly lastGoods: LastGoods;
  readonly config: ConfigStore;
  readonly status: ModuleStatus;
  readonly log: ModuleLog;
}

/** The builds of one module's server side: made from the disk, kept as long as they may be needed. */
export class Builds {
  readonly #parts: BuildsParts;
  #current: Build | undefined;
  #before: Build | undefined;
  /** What was set when the current build was last known to work. */
  #section: Section | undefined;
  /** The last build that did not start; a second event of the same save does not try it again. */
  #refused: { readonly build: Build; readonly error: unknown } | undefined;

  constructor(parts: BuildsParts) {
    this.#parts = parts;
  }

  /** The build that runs, or ran last. */
  get current(): Build | undefined {
    return this.#current;
  }

  /** The current build with what it works with, as something to go back to. */
  get working(): Build | undefined {
    if (!this.#current || !this.#section) return this.#current;
    return { ...this.#current, section: this.#section };
  }

  /** The build that ran last with success, also before the host's start. */
  good(): Promise<Build | undefined> {
    return this.#parts.lastGoods.of(this.#parts.id);
  }

  /** Compiles what is on the disk; what it needs is installed before. @throws MantelError `reload_failed` */
  async compile(plugin: PluginPackage): Promise<Build> {
    const { compiler, status, log } = this.#parts;
    const { id, folder, manifest } = plugin;
    await installMissing(folder, {
      doing: (sentence) => {
        status.doing(sentence);
        log.record({ level: "info", sentence: sentence ?? "the installation is over" });
      },
      warn: (sentence, fields) => log.record({ level: "warn", sentence, fields }),
    });
    const bundle = await compiler.compile(id, folder, manifest.server ?? "");
    return { ...bundle, plugin };
  }

  /** This one runs now, or is about to be started. */
  run(build: Build): void {
    if (this.#current !== build) this.#before = this.#current;
    this.#current = build;
    this.#refused = undefined;
  }

  /** What is on the disk did not start, and this runs instead. */
  restore(build: Build): void {
    this.#current = build;
    this.#before = undefined;
  }

  /** Notes that what runs works, with what is set now. */
  async keep(): Promise<void> {
    const { id, lastGoods, config, log } = this.#parts;
    if (!this.#current) return;
    this.#section = config.sectionOf(id);
    await lastGoods.keep(this.#current, this.#section, log);
  }

  refuse(build: Build, error: unknown): void {
    this.#refused = { build, error };
  }

  /** Why this very build did not start, when it was the last one tried. */
  refusalOf(build: Build): { readonly error: unknown } | undefined {
    return this.#refused && isSameBuild(build, this.#refused.build) ? this.#refused : undefined;
  }

  /** Leaves no code on the disk but what runs and what can be gone back to: at a change what ran, else `others`. */
  async tidy(...others: readonly (Build | undefined)[]): Promise<void> {
    const { id, compiler, lastGoods } = this.#parts;
    const before = this.#before;
    const hasChanged = before !== undefined && !isSameBuild(before, this.#current);
    const builds = [this.#current, before, ...(hasChanged ? [] : others)];
    const kept = builds.filter((build) => build !== undefined);
    const hasUnused = await compiler.prune(id, kept);
    if (hasUnused) await compiler.pruneVendors(await lastGoods.vendors());
  }
}
