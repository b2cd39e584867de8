import { isDeepStrictEqual } from "node:util";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { ModuleState } from "@mantel/plugin-sdk/module-state";
import type { Trial } from "@mantel/plugin-sdk/trial";
import type { PluginPackage } from "./code/manifest.ts";
import type { Figures } from "./process/health.ts";
import {
  type LastReload,
  limitsOf,
  type ModuleFault,
  type ModuleView,
  permissionsOf,
} from "./view.ts";

const NO_FIGURES: ModuleView["resources"] = {
  cpuPercent: null,
  memoryBytes: null,
  heapBytes: null,
  loopLagP99Ms: null,
};

/** States in which a generation works, apart from a reload that is under way. */
const WORKING: readonly ModuleState[] = ["active", "degraded"];

/** What a status asks of its module. */
export interface StatusOwner {
  changed(): void;
  widget(): ModuleView["widget"];
  limitsOf(plugin: PluginPackage): ModuleView["limits"];
}

/** What is shown of one module, and the only place where its state changes. */
export class ModuleStatus {
  readonly #owner: StatusOwner;
  #view: ModuleView;
  #before: ModuleState = "disabled";
  #degraded: string | undefined;
  #isComingBack = false;
  #added: string[] = [];

  constructor(plugin: PluginPackage, owner: StatusOwner) {
    this.#owner = owner;
    this.#view = {
      ...this.#described(plugin),
      state: "disabled",
      stateSince: new Date().toISOString(),
      generation: 0,
      resources: NO_FIGURES,
      restarts: 0,
      earlier: null,
      heldSince: null,
      lastReload: null,
      progress: null,
      error: null,
      widget: null,
      trials: [],
    };
  }

  get view(): ModuleView {
    return this.#view;
  }

  /** The state, or while a reload is under way the one before it. */
  get settledState(): ModuleState {
    return this.#view.state === "reloading" ? this.#before : this.#view.state;
  }

  /** True from a crash on, for as long as a quick return is to be expected. */
  get isComingBack(): boolean {
    return this.#isComingBack;
  }

  get isWorking(): boolean {
    return WORKING.includes(this.settledState);
  }

  become(state: ModuleState, error: ModuleFault | null = null): void {
    this.#before = this.settledState;
    this.#isComingBack = false;
    this.#set({ state, error, ...(state === "disabled" ? { widget: null } : {}) });
  }

  /** A module that rests has another manifest. */
  describe(plugin: PluginPackage): void {
    this.#set(this.#described(plugin));
  }

  /** The next generation works, from this plugin. */
  started(plugin: PluginPackage): void {
    this.#isComingBack = false;
    this.#set({
      ...this.#described(plugin),
      ...this.#works(),
      widget: this.#owner.widget(),
      generation: this.#view.generation + 1,
    });
  }

  /** The widget's code is another. It counts as a generation only where there is no process. */
  widgetChanged(plugin: PluginPackage, isGeneration: boolean): void {
    if (isGeneration) this.started(plugin);
    else this.#set({ ...this.#described(plugin), widget: this.#owner.widget() });
  }

  /** `isComingBack` says that calls wait for it, and that its devices count as available. */
  restarting(error: ModuleFault, isComingBack: boolean): void {
    this.#degraded = undefined;
    this.#isComingBack = isComingBack;
    this.#set({ state: "loading", error, restarts: this.#view.restarts + 1 });
  }

  /** A crashed module is not back as quickly as expected. */
  staysAway(): void {
    if (!this.#isComingBack) return;
    this.#isComingBack = false;
    this.#owner.changed();
  }

  /** A reload has ended; when it was no success, the state is again the one before it. */
  reloaded(lastReload: Omit<LastReload, "at">): void {
    this.#set({
      ...(this.#view.state === "reloading" ? this.#works() : {}),
      lastReload: { at: new Date().toISOString(), ...lastReload },
    });
  }

  /** What it ran before is other code now, or what is on the disk waits or does not any more. */
  couldGoBack(change: Pick<ModuleView, "earlier" | "heldSince">): void {
    const { earlier, heldSince } = this.#view;
    if (!isDeepStrictEqual({ earlier, heldSince }, change)) this.#set(change);
  }

  /** What takes long now, for people; `undefined` when it is over. */
  doing(progress: string | undefined): void {
    this.#set({ progress: progress ?? null });
  }

  /** What the plugin says of its other side; `undefined` when it can be reached. */
  degraded(reason: string | undefined): void {
    if (this.#degraded === reason) return;
    this.#degraded = reason;
    if (WORKING.includes(this.#view.state)) this.#set(this.#works());
  }

  /** What the plugin asks for that it did not ask for before, shown once it has started. */
  asksFor(added: string[]): void {
    this.#added = added;
  }

  /** Its code was loaded, and has these trials. */
  foundTrials(trials: readonly Trial[]): void {
    if (!isDeepStrictEqual(trials, this.#view.trials)) this.#set({ trials: [...trials] });
  }

  /** A new generation has yet to say how it finds its other side. */
  forgetDegraded(): void {
    this.#degraded = undefined;
  }

  /** Figures change all the time and are not announced. */
  uses(figures: Figures | undefined): void {
    this.#view = { ...this.#view, resources: figures ?? NO_FIGURES };
  }

  /** What a module shows of its manifest. */
  #described(plugin: PluginPackage) {
    const { id, version, manifest } = plugin;
    return {
      id,
      name: manifest.title ?? id,
      version,
      kinds: manifest.kinds,
      permissions: { ...permissionsOf(manifest), added: this.#added },
      limits: this.#owner.limitsOf(plugin),
    };
  }

  #works(): Pick<ModuleView, "state" | "error"> {
    if (this.#degraded === undefined) return { state: "active", error: null };
    return { state: "degraded", error: { message: this.#degraded } };
  }

  #set(change: Partial<ModuleView>): void {
    const isNewState = change.state !== undefined && change.state !== this.#view.state;
    this.#view = {
      ...this.#view,
      ...change,
      ...(isNewState ? { stateSince: new Date().toISOString() } : {}),
    };
    this.#owner.changed();
  }
}

/** An error as the module list shows it. */
export function toFault(error: unknown): ModuleFault {
  const message = error instanceof Error ? error.message : String(error);
  const location = error instanceof MantelError ? error.extras.location : undefined;
  return { message, ...location };
}

/** How a folder that cannot be a plugin is listed. */
export function brokenView(name: string, error: MantelError): ModuleView {
  const status = new ModuleStatus(
    { id: name, folder: "", version: "0.0.0", manifest: { id: name, kinds: [] } },
    { changed: () => undefined, widget: () => null, limitsOf: () => limitsOf({}) },
  );
  status.become("failed", toFault(error));
  return status.view;
}
