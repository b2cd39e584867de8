import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type Fault, MantelError } from "@mantel/plugin-sdk/errors";
import type { HomeSettings } from "@mantel/plugin-sdk/home";
import type { HostApi, Network } from "@mantel/plugin-sdk/protocol";
import { type Handlers, RemoteFault, remoteStackOf } from "@mantel/plugin-sdk/rpc";
import { type Trial, TRIALS } from "@mantel/plugin-sdk/trial";
import type { TSchema } from "typebox";
import type { ModuleView } from "../../api/module.ts";
import { parseDeclaredChannels } from "../../channels/declared.ts";
import { isSet } from "../../config/is-set.ts";
import { optionSchema, requireSafeSchema } from "../../config/option-schema.ts";
import type { ConfigStore } from "../../config/store.ts";
import { faultsOf } from "../../validate.ts";
import { sourcesOf } from "../build/built-sources.ts";
import { locationInStack, locationOfText } from "../errors/code-frame.ts";
import { configuredLimits } from "../manifest/limits.ts";
import type { PluginPackage } from "../manifest/manifest.ts";
import { exitReason } from "../process/exit-reason.ts";
import { checkAlive } from "../process/monitor/liveness.ts";
import { networkOf } from "../process/network/network-of.ts";
import { ownDeadline, withinOwnTime } from "../process/own-time.ts";
import type { PluginProcess, PluginProcessOwner } from "../process/plugin-process.ts";
import { createSandbox, type Sandbox, type HostFolders } from "../process/sandbox/sandbox.ts";
import { limitStorage } from "../process/storage-limit.ts";
import type { WarmSettings, WarmProcessPool } from "../process/warm-process.ts";
import type { Build } from "../versions/version.ts";
import { Declarations } from "./declarations.ts";
import type { Candidate } from "./handover.ts";

const TOO_SLOW = 'do slow work after the start, or raise "limits.startMs"';

export interface LoaderDependencies extends HostFolders {
  readonly warmProcesses: WarmProcessPool;
  readonly config: ConfigStore;
  readonly inspect: ReadonlyMap<string, number>;
  /** The calls that this generation of the plugin may make. */
  readonly apiFor: (generation: PluginProcess, plugin: PluginPackage) => Handlers<HostApi>;
  /** Receives the trials of the loaded code. */
  readonly onTrialsFound: (trials: readonly Trial[]) => void;
  readonly printed: PluginProcessOwner["printed"];
  readonly reached: NonNullable<PluginProcessOwner["reached"]>;
  readonly warn: (sentence: string, error: unknown) => void;
}

/** A prepared sandbox is not used after this time: a folder may have been deleted and created again since. */
const PREPARED_FOR_MS = 1_000;

type Limits = ModuleView["limits"];

interface Opening {
  readonly deadlineMs: number;
  readonly api?: Partial<Handlers<HostApi>>;
  /** True for a process that runs one trial. */
  readonly isTrial?: boolean;
}

/** A process with a plugin's code loaded and not started. */
export interface LoadedProcess extends Pick<Candidate, "generation" | "build" | "loaded"> {
  readonly confinement: Sandbox;
}

/** Thrown if the config of a module does not fit its options, or is missing and the module needs one. */
export class NotConfigured extends MantelError {
  static misfit(id: string, errors: Fault[]): NotConfigured {
    const [first] = errors;
    const fault = `${first?.pointer ?? ""} ${first?.detail ?? ""}`;
    return new NotConfigured("invalid", `the config of ${id} is invalid: ${fault}`, { errors });
  }

  static missing(id: string): NotConfigured {
    return new NotConfigured(
      "invalid",
      `not configured; set its options, or add a section "${id}" to config.json`,
    );
  }
}

/** Loads a build into a process and prepares it for its start, without touching the running process. */
export class ProcessLoader {
  readonly #parts: LoaderDependencies;
  readonly #declarations: Declarations;
  /** The plugin that was loaded last, with the settings and packages of its process. */
  #last: { readonly plugin: PluginPackage; readonly readiness: WarmSettings } | undefined;

  /** The sandbox for the code that is being compiled. */
  #prepared:
    | {
        readonly plugin: PluginPackage;
        readonly limits: Limits;
        readonly sandbox: Promise<Sandbox>;
        readonly at: number;
      }
    | undefined;

  constructor(parts: LoaderDependencies) {
    this.#parts = parts;
    this.#declarations = new Declarations(parts.cacheFolder, () => parts.warmProcesses.runtime);
  }

  /**
   * Prepares the next process of this plugin while its code is compiled: its sandbox, and a warm process if the one
   * there belongs to another module. A plugin that is not configured may need none.
   */
  prepare(plugin: PluginPackage): void {
    this.warm();
    if (!isConfigured(plugin, this.#parts.config)) return;
    const limits = configuredLimits(this.#parts.config.current, plugin);
    const sandbox = this.#createSandbox(
      plugin,
      limits,
      networkOf(plugin.manifest.permissions ?? {}),
    );
    sandbox.catch(() => undefined); // `open` throws it
    this.#prepared = { plugin, limits, sandbox, at: performance.now() };
  }

  /** Starts a warm process that fits this plugin, if the plugin was loaded before. */
  warm(): void {
    if (!this.#last) return;
    const { plugin, readiness } = this.#last;
    const warm = this.#parts.warmProcesses.warm(readiness);
    if (warm) this.#own(warm, plugin);
  }

  /** Starts a warm process before the reload has ended, unless another one is running: the next save may follow soon. */
  warmEarly(): void {
    if (this.#parts.warmProcesses.reloads === 1) this.warm();
  }

  /** Runs a reload of this plugin, and starts a warm process for the next one. */
  whileReloading<T>(reload: () => Promise<T>): Promise<T> {
    return this.#parts.warmProcesses.whileReloading(reload, () => this.warm());
  }

  /**
   * Loads `build` into the warm process, or into a new process.
   * @throws NotConfigured; MantelError `reload_failed`
   */
  async load(build: Build, deadlineMs: number): Promise<Candidate> {
    const { plugin } = build;
    const { config, onTrialsFound } = this.#parts;
    if (!isConfigured(plugin, config)) await this.#refuseDeclared(build);
    const { generation, loaded, confinement } = await this.open(build, { deadlineMs });
    const trials = trialsOf(loaded);
    onTrialsFound(trials);
    try {
      requireSafeSchema(loaded.state, "the schema of the state");
      const channels = parseDeclaredChannels(loaded.channels);
      const schema = optionSchema(loaded.options);
      config.registerOptions(plugin.id, schema);
      if (!isConfigured(plugin, config)) {
        await this.#declarations.keep(build, { options: schema, trials });
        throw NotConfigured.missing(plugin.id);
      }
      const options = this.#optionsOf(build, schema);
      const { inspectPort } = generation;
      const request = this.#startRequest(build, options, confinement);
      return {
        generation,
        build,
        loaded,
        channels,
        request: inspectPort === undefined ? request : { ...request, inspectPort },
      };
    } catch (error) {
      throw await this.explain(error, { generation, build });
    }
  }

  /**
   * Loads `build` into a process, without regard to the config. `api` replaces the calls of a module.
   * @throws MantelError `reload_failed`
   */
  async open(build: Build, { deadlineMs, api, isTrial = false }: Opening): Promise<LoadedProcess> {
    const { plugin, bundle, vendor } = build;
    const { config, dataFolder } = this.#parts;
    const limits = configuredLimits(config.current, plugin);
    const { permissions = {} } = plugin.manifest;
    const network = networkOf(permissions, isTrial);
    const confinement = await this.#takeSandbox(plugin, limits, network);
    const { settings, compiled } = confinement;
    const { id, folder } = plugin;
    const packages = { id, folder, vendor, compiled, dataFolder, permissions, network };
    const readiness = { settings, packages };
    if (network === networkOf(permissions)) this.#last = { plugin, readiness };
    const generation = this.#process(readiness);
    this.#own(generation, plugin, api);
    limitStorage(generation, confinement, limits);
    try {
      const loaded = await withinOwnTime(ownDeadline("load", generation, deadlineMs), (longestMs) =>
        generation.peer.call("load", { ...packages, bundle }, longestMs),
      );
      return { generation, build, loaded, confinement };
    } catch (error) {
      throw await this.explain(error, { generation, build });
    }
  }

  #createSandbox(plugin: PluginPackage, limits: Limits, network: Network): Promise<Sandbox> {
    return createSandbox(plugin, this.#parts, { ...limits, network });
  }

  /** The prepared sandbox if it is for the same plugin, limits and network; otherwise a new one. */
  #takeSandbox(plugin: PluginPackage, limits: Limits, network: Network): Promise<Sandbox> {
    const prepared = this.#prepared;
    this.#prepared = undefined;
    const isSame =
      prepared?.plugin === plugin &&
      performance.now() - prepared.at < PREPARED_FOR_MS &&
      isDeepStrictEqual(prepared.limits, limits) &&
      networkOf(plugin.manifest.permissions ?? {}) === network;
    return isSame ? prepared.sandbox : this.#createSandbox(plugin, limits, network);
  }

  /** The warm process or, for a debugger, a new process that can be inspected. */
  #process(readiness: WarmSettings): PluginProcess {
    const { warmProcesses, inspect, config } = this.#parts;
    const { settings, packages } = readiness;
    const port = inspect.get(packages.id) ?? config.current.modules[packages.id]?.inspect;
    return port === undefined
      ? warmProcesses.take(readiness)
      : warmProcesses.debuggable(settings, port);
  }

  #own(generation: PluginProcess, plugin: PluginPackage, api: Opening["api"] = {}): void {
    const { apiFor, printed, reached } = this.#parts;
    generation.ownedBy({ api: { ...apiFor(generation, plugin), ...api }, printed, reached });
  }

  /** Refuses a build that is not configured without loading it, if it is known what it declares. @throws NotConfigured */
  async #refuseDeclared(build: Build): Promise<void> {
    const { id } = build.plugin;
    const declared = await this.#declarations.find(build);
    if (!declared) return;
    this.#parts.onTrialsFound(declared.trials);
    this.#parts.config.registerOptions(id, declared.options as TSchema | undefined);
    throw NotConfigured.missing(id);
  }

  /** The current options or, if they are invalid, those with which the build last worked. */
  #optionsOf({ plugin: { id }, section }: Build, schema: TSchema | undefined): unknown {
    const { config, warn } = this.#parts;
    const { options, faults } = config.optionsFor(id, schema);
    if (faults.length === 0) return options;
    const error = NotConfigured.misfit(id, [...faults]);
    const hasOptions = config.hasSection(id);
    const before = section && hasOptions ? config.optionsFor(id, schema, section) : undefined;
    if (before?.faults.length !== 0) throw error;
    warn("invalid options; keeping the previous ones", error.message);
    return before.options;
  }

  /** True if a state fits the schema that the code declares. */
  fits(state: unknown, { loaded }: Candidate): boolean {
    if (!loaded.state) return false;
    const [fault] = faultsOf(loaded.state, state);
    if (!fault) return true;
    this.#parts.warn(
      "the handed-over state does not fit the new code; starting without it",
      `${fault.pointer} ${fault.detail}`,
    );
    return false;
  }

  /** Ends a generation that did not start, and turns its failure into an error that an author can act on. */
  async explain(
    error: unknown,
    { generation, build }: Pick<Candidate, "generation" | "build">,
  ): Promise<MantelError> {
    const failure = (message: string, stack: string): MantelError => {
      const location =
        locationInStack(stack, build.plugin.folder, sourcesOf(build)) ??
        placeOfExport(message, build);
      const errors = error instanceof MantelError ? error.extras.errors : undefined;
      const extras = { ...(location ? { location } : {}), ...(errors ? { errors } : {}) };
      return new MantelError("reload_failed", message, { cause: error, ...extras });
    };
    const isLate = error instanceof MantelError && error.code === "deadline_passed";
    const why = isLate ? await findLatenessCause(generation) : TOO_SLOW;
    const hasEnded = await endedBy(generation);
    await generation.terminate();
    if (error instanceof NotConfigured) return error;
    if (error instanceof RemoteFault) return failure(error.message, error.remoteStack);
    if (hasEnded) {
      const exit = await generation.exited;
      return failure(exitReason(exit), exit.lastLines.join("\n"));
    }
    if (error instanceof MantelError && error.code === "reload_failed") return error;
    if (isLate) return failure(`${error.message}: ${why}`, "");
    return failure(error instanceof Error ? error.message : String(error), remoteStackOf(error));
  }

  #startRequest(
    { plugin }: Build,
    config: unknown,
    { storage, folders }: Sandbox,
  ): Candidate["request"] {
    return { config, ...homeAndServicesOf(plugin, this.#parts.config), storage, folders };
  }
}

/** The trials of a loaded build, whose answer is not trusted: it comes from another process. */
function trialsOf({ trials }: { readonly trials: unknown }): Trial[] {
  return TRIALS.filter((name) => Array.isArray(trials) && trials.includes(name));
}

/** The facts of the home, and the services it may use, that a plugin's code gets besides its options. */
export function homeAndServicesOf({ manifest }: PluginPackage, config: ConfigStore) {
  return { home: homeSettingsOf(config), uses: manifest.uses ?? [] };
}

/** The settings of the home that every plugin may read. */
export function homeSettingsOf(config: ConfigStore): HomeSettings {
  const { ui, devices } = config.current;
  return { locale: ui.locale, timeZone: ui.timeZone, pollSeconds: devices.pollSeconds };
}

/** False for a plugin whose `requiresConfig` is not met, and that is neither configured nor enabled. */
export function isConfigured({ id, manifest }: PluginPackage, config: ConfigStore): boolean {
  const { requiresConfig = false } = manifest;
  if (requiresConfig === false) return true;
  if (config.hasSection(id) || config.current.modules[id]?.enabled === true) return true;
  return requiresConfig !== true && requiresConfig.every((key) => isSet(config.current, key));
}

/**
 * The location of a wrong default export, and of a wrong list of services. The runtime finds these faults, so their
 * stacks have no line of the author's.
 */
function placeOfExport(message: string, { plugin }: Build) {
  const [, text] = FAULTS_WITHOUT_LINE.find(([fault]) => message.includes(fault)) ?? [];
  if (text === undefined) return undefined;
  const { folder, manifest } = plugin;
  return locationOfText(join(folder, manifest.server ?? ""), text, folder);
}

const FAULTS_WITHOUT_LINE = [
  ["the default export is", "export default"],
  ['"services', "services:"],
] as const;

/** The longest search for the cause of a start that takes too long. */
const CAUSE_MS = 5_000;

/** A hint for the author when a start takes too long; one that hangs never ends. */
async function findLatenessCause(generation: PluginProcess): Promise<string> {
  const { silence = TOO_SLOW } = await checkAlive(generation, CAUSE_MS);
  return silence;
}

/** True if the process ended by itself; waits a moment for one that is just ending. */
async function endedBy({ exited }: PluginProcess): Promise<boolean> {
  const moment = new Promise<false>((resolve) => setTimeout(resolve, 20, false));
  return Promise.race([exited.then(() => true), moment]);
}
