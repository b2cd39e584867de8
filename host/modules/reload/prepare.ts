import { join } from "node:path";
import { type Fault, MantelError } from "@mantel/plugin-sdk/errors";
import type { HostApi, LoadResult } from "@mantel/plugin-sdk/protocol";
import { type Handlers, RemoteFault, remoteStackOf } from "@mantel/plugin-sdk/rpc";
import { type Trial, TRIALS } from "@mantel/plugin-sdk/trial";
import { optionSchema } from "../../config/option-schema.ts";
import type { ConfigStore } from "../../config/store.ts";
import { faultsOf } from "../../validate.ts";
import type { Build } from "../code/build.ts";
import { locationInStack, locationOfText } from "../code/code-frame.ts";
import type { PluginPackage } from "../code/manifest.ts";
import { causeOf } from "../process/cause.ts";
import { confine, type Confinement, type HostFolders } from "../process/confine.ts";
import type { Generation, GenerationOwner } from "../process/generation.ts";
import { askForLife } from "../process/silence.ts";
import type { Readiness, Spare } from "../process/spare.ts";
import type { ModuleView } from "../view.ts";
import type { Candidate } from "./handover.ts";

const TOO_SLOW = 'do what takes long after the start, or raise "limits.startMs"';

export interface PreparationParts extends HostFolders {
  readonly spare: Spare;
  readonly config: ConfigStore;
  readonly limitsOf: (plugin: PluginPackage) => ModuleView["limits"];
  readonly inspect: ReadonlyMap<string, number>;
  /** The calls that this generation of the plugin may make. */
  readonly apiFor: (generation: Generation, plugin: PluginPackage) => Handlers<HostApi>;
  /** Hears which trials the code has that was loaded. */
  readonly foundTrials: (trials: readonly Trial[]) => void;
  readonly printed: GenerationOwner["printed"];
  readonly warn: (sentence: string, error: unknown) => void;
}

interface Opening {
  readonly deadlineMs: number;
  readonly api?: Partial<Handlers<HostApi>>;
}

/** A process with a plugin's code, of which nothing has started. */
export interface Opened extends Pick<Candidate, "generation" | "build" | "loaded"> {
  readonly confinement: Confinement;
}

/** The config of a module does not fit its options, or has none where the module waits for some. */
export class Unconfigured extends MantelError {
  static misfit(id: string, errors: Fault[]): Unconfigured {
    const [first] = errors;
    const fault = `${first?.pointer ?? ""} ${first?.detail ?? ""}`;
    return new Unconfigured("invalid", `the config of ${id} does not fit: ${fault}`, { errors });
  }

  static notSetUp(id: string): Unconfigured {
    return new Unconfigured("invalid", `it waits to be set up, by a section "${id}" in the config`);
  }
}

/** Gets a build into a process and ready to start: the part of a reload that hurts nobody. */
export class Preparation {
  readonly #parts: PreparationParts;
  /** What the last process was made ready for. */
  #last: { readonly plugin: PluginPackage; readonly readiness: Readiness } | undefined;

  constructor(parts: PreparationParts) {
    this.#parts = parts;
  }

  /** Has a spare that fits this plugin started, once the plugin has been loaded before. */
  warm(): void {
    if (!this.#last) return;
    const { plugin, readiness } = this.#last;
    const spare = this.#parts.spare.warm(readiness);
    if (spare) this.#own(spare, plugin);
  }

  /** Carries out a reload of this plugin, and has a spare started for its next one. */
  whileReloading<T>(reload: () => Promise<T>): Promise<T> {
    return this.#parts.spare.whileReloading(reload, () => this.warm());
  }

  /**
   * Loads `build` into the spare, or into a new process.
   * @throws Unconfigured; MantelError `reload_failed`
   */
  async load(build: Build, deadlineMs: number): Promise<Candidate> {
    const { generation, loaded, confinement } = await this.open(build, { deadlineMs });
    const { trials } = loaded; // from another process
    this.#parts.foundTrials(
      TRIALS.filter((name) => Array.isArray(trials) && trials.includes(name)),
    );
    try {
      const options = this.#optionsOf(build, loaded);
      const { inspectPort } = generation;
      const request = this.#startRequest(build, options, confinement);
      return {
        ...{ generation, build, loaded },
        request: inspectPort === undefined ? request : { ...request, inspectPort },
      };
    } catch (error) {
      throw await this.explain(error, { generation, build });
    }
  }

  /**
   * Loads `build` into a process, whatever the config says. `api` stands in for the calls of a module.
   * @throws MantelError `reload_failed`
   */
  async open(build: Build, { deadlineMs, api }: Opening): Promise<Opened> {
    const { plugin, bundle, vendor } = build;
    const { limitsOf, dataFolder } = this.#parts;
    const confinement = await confine(plugin, this.#parts, limitsOf(plugin));
    const { settings, compiled } = confinement;
    const { id, folder, manifest } = plugin;
    const { permissions = {} } = manifest;
    const packages = { id, folder, vendor, compiled, dataFolder, permissions };
    this.#last = { plugin, readiness: { settings, packages } };
    const generation = this.#process(this.#last.readiness);
    this.#own(generation, plugin, api);
    try {
      const loaded = await generation.peer.call("load", { ...packages, bundle }, deadlineMs);
      return { generation, build, loaded, confinement };
    } catch (error) {
      throw await this.explain(error, { generation, build });
    }
  }

  /** The warm spare or, for a debugger, a process that never was the spare and may be looked into. */
  #process(readiness: Readiness): Generation {
    const { spare, inspect, config } = this.#parts;
    const { settings, packages } = readiness;
    const port = inspect.get(packages.id) ?? config.current.modules[packages.id]?.inspect;
    return port === undefined ? spare.take(readiness) : spare.debuggable(settings, port);
  }

  #own(generation: Generation, plugin: PluginPackage, api: Opening["api"] = {}): void {
    const { apiFor, printed } = this.#parts;
    generation.ownedBy({ api: { ...apiFor(generation, plugin), ...api }, printed });
  }

  /** What is set or, when that is wrong, what was set when the build last worked. */
  #optionsOf({ plugin, section }: Build, loaded: LoadResult): unknown {
    const { config, warn } = this.#parts;
    const { id } = plugin;
    const schema = optionSchema(loaded.options);
    config.registerOptions(id, schema);
    if (!isSetUp(plugin, config)) throw Unconfigured.notSetUp(id);
    const { options, faults } = config.optionsFor(id, schema);
    if (faults.length === 0) return options;
    const error = Unconfigured.misfit(id, [...faults]);
    const isSet = config.hasSection(id);
    const before = section && isSet ? config.optionsFor(id, schema, section) : undefined;
    if (before?.faults.length !== 0) throw error;
    warn("what is set does not fit, and what was set before goes on", error.message);
    return before.options;
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
  async explain(
    error: unknown,
    { generation, build }: Pick<Candidate, "generation" | "build">,
  ): Promise<MantelError> {
    const failure = (message: string, stack: string): MantelError => {
      const location = locationInStack(stack, build.plugin.folder) ?? placeOfExport(message, build);
      const errors = error instanceof MantelError ? error.extras.errors : undefined;
      const extras = { ...(location ? { location } : {}), ...(errors ? { errors } : {}) };
      return new MantelError("reload_failed", message, { cause: error, ...extras });
    };
    const isLate = error instanceof MantelError && error.code === "deadline_passed";
    const why = isLate ? await causeOfLateness(generation) : TOO_SLOW;
    const hasEnded = await endedBy(generation);
    await generation.terminate();
    if (error instanceof Unconfigured) return error;
    if (error instanceof RemoteFault) return failure(error.message, error.remoteStack);
    if (hasEnded) {
      const exit = await generation.exited;
      return failure(causeOf(exit), exit.lastLines.join("\n"));
    }
    if (error instanceof MantelError && error.code === "reload_failed") return error;
    if (isLate) return failure(`${error.message}: ${why}`, "");
    return failure(error instanceof Error ? error.message : String(error), remoteStackOf(error));
  }

  #startRequest(
    { plugin }: Build,
    config: unknown,
    { storage, folders }: Confinement,
  ): Candidate["request"] {
    return { config, ...surroundings(plugin, this.#parts.config), storage, folders };
  }
}

/** What the code of a plugin learns of the house besides its options. */
export function surroundings({ manifest }: PluginPackage, config: ConfigStore) {
  const { locale, timeZone } = config.current.ui;
  return { house: { locale, timeZone }, uses: manifest.uses ?? [] };
}

/** Whether people have asked for a plugin that does not start unasked. */
export function isSetUp({ id, manifest }: PluginPackage, config: ConfigStore): boolean {
  if (!manifest.optIn) return true;
  return config.hasSection(id) || config.current.modules[id]?.enabled === true;
}

/** A wrong export is found by the runtime, whose stack holds nothing of the author's. */
function placeOfExport(message: string, { plugin }: Build) {
  if (!message.includes("the default export is")) return undefined;
  const { folder, manifest } = plugin;
  return locationOfText(join(folder, manifest.server ?? ""), "export default", folder);
}

/** What an author should look at when a start takes too long: one that hangs will never end. */
async function causeOfLateness(generation: Generation): Promise<string> {
  const { silence = TOO_SLOW } = await askForLife(generation);
  return silence;
}

/** Whether the process has ended by itself; one that is just ending gets a moment. */
async function endedBy({ exited }: Generation): Promise<boolean> {
  const moment = new Promise<false>((resolve) => setTimeout(resolve, 20, false));
  return Promise.race([exited.then(() => true), moment]);
}
