import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type CodeLocation, MantelError } from "@mantel/plugin-sdk/errors";
import type { HostApi } from "@mantel/plugin-sdk/protocol";
import { type Handlers, RemoteFault } from "@mantel/plugin-sdk/rpc";
import type { ConfigStore } from "../config/store.ts";
import { faultsOf } from "../validate.ts";
import { locationInStack } from "./code-frame.ts";
import type { Build } from "./compile.ts";
import { causeOf, type Generation } from "./generation.ts";
import type { Candidate } from "./handover.ts";
import type { PluginPackage } from "./manifest.ts";
import type { Spare } from "./spare.ts";

export interface PreparationParts {
  readonly spare: Spare;
  readonly config: ConfigStore;
  readonly dataFolder: string;
  readonly memoryMiB: number;
  /** The calls that this generation may make. */
  readonly apiFor: (generation: Generation) => Handlers<HostApi>;
  readonly printed: (line: string) => void;
  readonly warn: (sentence: string, error: unknown) => void;
}

/** The config of a module does not fit its options. */
export class Unconfigured extends MantelError {
  constructor(id: string, errors: { pointer: string; detail: string }[]) {
    const first = errors[0];
    super(
      "invalid",
      `the config of ${id} does not fit: ${first?.pointer ?? ""} ${first?.detail ?? ""}`,
      {
        errors,
      },
    );
  }
}

/** Gets a build into a process and ready to start: the part of a reload that hurts nobody. */
export class Preparation {
  readonly #plugin: PluginPackage;
  readonly #parts: PreparationParts;

  constructor(plugin: PluginPackage, parts: PreparationParts) {
    this.#plugin = plugin;
    this.#parts = parts;
  }

  /**
   * Loads `build` into the spare, or into a new process.
   * @throws Unconfigured; MantelError `reload_failed`
   */
  async load(build: Build, deadlineMs: number): Promise<Candidate> {
    const { id, folder } = this.#plugin;
    const generation = this.#parts.spare.take(this.#parts.memoryMiB);
    generation.ownedBy({ api: this.#parts.apiFor(generation), printed: this.#parts.printed });
    try {
      const { bundle, vendor } = build;
      const loaded = await generation.peer.call("load", { id, folder, bundle, vendor }, deadlineMs);
      this.#parts.config.registerOptions(id, loaded.options);
      const { options, faults } = this.#parts.config.optionsFor(id, loaded.options);
      if (faults.length > 0) throw new Unconfigured(id, [...faults]);
      return { generation, build, loaded, request: await this.#startRequest(options) };
    } catch (error) {
      throw await this.explain(error, generation);
    }
  }

  /** Whether a state fits the shape the code declares. */
  fits(state: unknown, { loaded }: Candidate): boolean {
    if (!loaded.state) return false;
    const [fault] = faultsOf(loaded.state, state);
    if (!fault) return true;
    this.#parts.warn(
      "the handed-over state does not fit the new code, which starts fresh",
      `${fault.pointer} ${fault.detail}`,
    );
    return false;
  }

  /** Ends a generation that did not start, and makes of its failure what an author can act on. */
  async explain(error: unknown, generation: Generation): Promise<MantelError> {
    const hasEnded = await endedBy(generation);
    await generation.terminate();
    if (error instanceof Unconfigured) return error;
    if (error instanceof RemoteFault) {
      return this.#failure(error.message, error.remoteStack, error);
    }
    if (hasEnded) {
      const exit = await generation.exited;
      return this.#failure(causeOf(exit), exit.lastLines.join("\n"), error);
    }
    if (error instanceof MantelError && error.code === "reload_failed") return error;
    return this.#failure(error instanceof Error ? error.message : String(error), "", error);
  }

  #failure(message: string, stack: string, cause: unknown): MantelError {
    const location: CodeLocation | undefined = locationInStack(stack, this.#plugin.folder);
    return new MantelError("reload_failed", message, { cause, ...(location ? { location } : {}) });
  }

  async #startRequest(config: unknown): Promise<Candidate["request"]> {
    const { id, manifest } = this.#plugin;
    const { config: store, dataFolder } = this.#parts;
    const { locale, timeZone } = store.current.ui;
    const folders = (manifest.permissions?.folders ?? []).map(
      (name) => [name, join(dataFolder, name)] as const,
    );
    for (const [, path] of folders) await mkdir(path, { recursive: true, mode: 0o700 });
    return {
      config,
      house: { locale, timeZone },
      storage: join(dataFolder, "plugins", id),
      folders: Object.fromEntries(folders),
      uses: manifest.uses ?? [],
    };
  }
}

/** Whether the process has ended by itself; one that is just ending gets a moment. */
async function endedBy({ exited }: Generation): Promise<boolean> {
  const moment = new Promise<false>((resolve) => setTimeout(resolve, 20, false));
  return Promise.race([exited.then(() => true), moment]);
}
