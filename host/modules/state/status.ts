import { isDeepStrictEqual } from "node:util";
import type { MantelError } from "@mantel/plugin-sdk/errors";
import { translatedTitles } from "@mantel/plugin-sdk/manifest";
import type { ModuleState } from "@mantel/plugin-sdk/module-state";
import type { Trial } from "@mantel/plugin-sdk/trial";
import type { LastReload, ModuleFault, ModuleView } from "../../api/module.ts";
import { permissionsOf } from "../consent/declared-permissions.ts";
import { type RequestedPermission, describePermission } from "../consent/requested-permissions.ts";
import { toFault } from "../errors/to-fault.ts";
import { limitsOf } from "../manifest/limits.ts";
import type { PluginPackage } from "../manifest/manifest.ts";
import type { ResourceUsage } from "../process/heartbeat.ts";

const NO_USAGE: ModuleView["resources"] = {
  cpuPercent: null,
  memoryBytes: null,
  heapBytes: null,
  loopLagP99Ms: null,
  storageBytes: null,
};

/** States in which a generation works, apart from a running reload. */
const WORKING: readonly ModuleState[] = ["active", "degraded"];
/** States in which no generation works, and none is expected to. */
const ENDED: readonly ModuleState[] = ["disabled", "stopping", "unconfigured", "failed"];

/** The callbacks of a status to its module. */
export interface StatusOwner {
  changed(): void;
  widget(): ModuleView["widget"];
  limitsOf(plugin: PluginPackage): ModuleView["limits"];
  confinementOf(plugin: PluginPackage): ModuleView["confinement"];
}

/** The view of one module, and the only place where its state changes. */
export class ModuleStatus {
  readonly #owner: StatusOwner;
  #view: ModuleView;
  #before: ModuleState = "disabled";
  #degraded: string | undefined;
  #storageWarning: string | undefined;
  #widgetFault: ModuleFault | undefined;
  #isComingBack = false;
  #hasStarted = false;
  #added: string[] = [];

  constructor(plugin: PluginPackage, owner: StatusOwner) {
    this.#owner = owner;
    this.#view = {
      ...this.#described(plugin),
      state: "disabled",
      stateSince: new Date().toISOString(),
      generation: 0,
      resources: NO_USAGE,
      restingSince: null,
      restarts: 0,
      earlier: null,
      heldSince: null,
      lastReload: null,
      consent: null,
      progress: null,
      error: null,
      widget: null,
      trials: [],
    };
  }

  get view(): ModuleView {
    return this.#view;
  }

  /** The state or, during a reload, the one before it. */
  get settledState(): ModuleState {
    return this.#view.state === "reloading" ? this.#before : this.#view.state;
  }

  /** True after a crash, as long as a quick restart is expected. */
  get isComingBack(): boolean {
    return this.#isComingBack;
  }

  get isWorking(): boolean {
    return WORKING.includes(this.settledState);
  }

  /** True after a start, also during reloads and restarts, until it is stopped, lacks its config or fails to start. */
  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  become(state: ModuleState, error: ModuleFault | null = null): void {
    this.#before = this.settledState;
    const hasEnded = ENDED.includes(state);
    if (hasEnded) this.#hasStarted = false;
    this.#isComingBack = false;
    this.#set({
      state,
      error,
      ...(hasEnded && { restingSince: null }),
      ...(state === "disabled" && { widget: null }),
    });
  }

  /** Shows the manifest of this plugin, and the added permissions. */
  describe(plugin: PluginPackage): void {
    this.#set(this.#described(plugin));
  }

  /** Records that the next generation works, from this plugin. */
  started(plugin: PluginPackage): void {
    this.#isComingBack = false;
    this.#hasStarted = true;
    this.#set({
      ...this.#described(plugin),
      ...this.#works(),
      widget: this.#owner.widget(),
      restingSince: null,
      generation: this.#view.generation + 1,
    });
  }

  /** Records that the widget's code changed. It counts as a generation only without a process. */
  widgetChanged(plugin: PluginPackage, isGeneration: boolean): void {
    if (isGeneration) this.started(plugin);
    else this.#set({ ...this.#described(plugin), widget: this.#owner.widget() });
  }

  /** Records that its widget runs elsewhere from now on: in the page, or in a frame. */
  widgetMoved(): void {
    if (this.#view.widget) this.#set({ widget: this.#owner.widget() });
  }

  /** Records that its process has ended because nothing needs it, or that it has one again. */
  rests(isResting: boolean): void {
    if (isResting === (this.#view.restingSince !== null)) return;
    this.#set({ restingSince: isResting ? new Date().toISOString() : null });
  }

  /** If `isComingBack`, calls wait for it and its devices count as available. */
  restarting(error: ModuleFault, isComingBack: boolean): void {
    this.#degraded = undefined;
    this.#isComingBack = isComingBack;
    this.#set({ state: "loading", error, restingSince: null, restarts: this.#view.restarts + 1 });
  }

  /** Records that a crashed module is not back as quickly as expected. */
  stopExpectingRestart(): void {
    if (!this.#isComingBack) return;
    this.#isComingBack = false;
    this.#owner.changed();
  }

  /** Records the end of a reload; after a failure the state returns to the one before it. */
  reloaded(lastReload: Omit<LastReload, "at">): void {
    this.#set({
      ...(this.#view.state === "reloading" ? this.#works() : {}),
      lastReload: { at: new Date().toISOString(), ...lastReload },
    });
  }

  /** Updates the previous version, and since when the code on disk waits. */
  historyChanged(change: Pick<ModuleView, "earlier" | "heldSince">): void {
    const { earlier, heldSince } = this.#view;
    if (!isDeepStrictEqual({ earlier, heldSince }, change)) this.#set(change);
  }

  /** Updates the permissions the plugin on disk asks for and does not have; empty if it need not wait. */
  needsConsent(needed: readonly RequestedPermission[]): void {
    const permissions = needed.map(({ name, value = null }) => ({ name, value }));
    const consent =
      needed.length > 0 ? { needed: needed.map(describePermission), permissions } : null;
    if (!isDeepStrictEqual(consent, this.#view.consent)) this.#set({ consent });
  }

  /** Shows a user-facing sentence about a slow step; `undefined` when it is over. */
  showProgress(progress: string | undefined): void {
    this.#set({ progress: progress ?? null });
  }

  /** Shows the plugin's reason why its device or service cannot be reached; `undefined` when it can. */
  degraded(reason: string | undefined): void {
    if (this.#degraded === reason) return;
    this.#degraded = reason;
    if (WORKING.includes(this.#view.state)) this.#set(this.#works());
  }

  /** Shows an error that a browser reported of its widget; `undefined` when other code is served. */
  widgetFailed(fault: ModuleFault | undefined): void {
    if (isDeepStrictEqual(this.#widgetFault, fault)) return;
    this.#widgetFault = fault;
    if (WORKING.includes(this.#view.state)) this.#set(this.#works());
  }

  /** True if it is degraded by its widget alone: its server side works. */
  get isWidgetFault(): boolean {
    return this.#widgetFault !== undefined && this.#view.error === this.#widgetFault;
  }

  /** Sets the added permissions, shown once the plugin has started. */
  addedPermissions(added: string[]): void {
    this.#added = added;
  }

  /** Shows the permissions that were not used since the code first ran. */
  setUnused(unused: readonly RequestedPermission[]): void {
    const since = this.#view.unused?.since ?? new Date().toISOString();
    const permissions = unused.map(({ name, value = null }) => ({ name, value }));
    const next = { since, words: unused.map(describePermission), permissions };
    if (!isDeepStrictEqual(next, this.#view.unused)) this.#set({ unused: next });
  }

  /** Records the trials of its loaded code. */
  setTrials(trials: readonly Trial[]): void {
    if (!isDeepStrictEqual(trials, this.#view.trials)) this.#set({ trials: [...trials] });
  }

  /** Clears the degraded reason: a new generation has yet to report its own. */
  forgetDegraded(): void {
    this.#degraded = undefined;
  }

  /** Updates usage figures. They change all the time and cause no event, except for the storage warning. */
  uses(figures: ResourceUsage | undefined): void {
    const { storageWarning, ...resources } = figures ?? {
      ...NO_USAGE,
      storageWarning: undefined,
    };
    this.#view = { ...this.#view, resources };
    if (this.#storageWarning === storageWarning) return;
    this.#storageWarning = storageWarning;
    if (WORKING.includes(this.#view.state)) this.#set(this.#works());
  }

  /** The fields of the view that come from the manifest. */
  #described(plugin: PluginPackage) {
    const { id, version, manifest } = plugin;
    const titles = translatedTitles(manifest);
    return {
      id,
      name: manifest.title ?? id,
      ...(titles && { titles }),
      version,
      kinds: manifest.kinds,
      adds: manifest.adds ?? {},
      permissions: { ...permissionsOf(manifest), added: this.#added },
      limits: this.#owner.limitsOf(plugin),
      confinement: this.#owner.confinementOf(plugin),
    };
  }

  #works(): Pick<ModuleView, "state" | "error"> {
    const message = this.#degraded ?? this.#storageWarning;
    if (message !== undefined) return { state: "degraded", error: { message } };
    if (this.#widgetFault) return { state: "degraded", error: this.#widgetFault };
    return { state: "active", error: null };
  }

  #set(change: Partial<ModuleView>): void {
    const isNewState = change.state !== undefined && change.state !== this.#view.state;
    const { titles, ...view } = this.#view;
    const isDescribed = change.name !== undefined; // a manifest without translations has no titles
    this.#view = {
      ...view,
      ...(titles && !isDescribed ? { titles } : {}),
      ...change,
      ...(isNewState ? { stateSince: new Date().toISOString() } : {}),
    };
    this.#owner.changed();
  }
}

/** The list entry of a folder that is not a valid plugin. */
export function invalidPluginView(name: string, error: MantelError): ModuleView {
  const status = new ModuleStatus(
    { id: name, folder: "", version: "0.0.0", manifest: { id: name, kinds: [] } },
    {
      changed: () => undefined,
      widget: () => null,
      limitsOf: () => limitsOf({}),
      confinementOf: () => ({ level: "none", network: "none", reason: "none of its code runs" }),
    },
  );
  status.become("failed", toFault(error));
  return status.view;
}
