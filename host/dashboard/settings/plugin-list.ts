import { type ReadonlySignal, signal } from "@preact/signals-core";
import type { FoundPackage, Operation, PluginView } from "../../api/plugin.ts";
import type { SettingsDependencies } from "./page.ts";
import { words } from "./words.ts";

/** Polling interval, so that the progress of an installation is shown. */
const LOOK_EVERY_MS = 2_000;
/** A registry may be slow. */
const REGISTRY_MS = 60_000;

interface PluginAnswer {
  readonly plugins: readonly PluginView[];
  readonly operations: readonly Operation[];
}

/** The installed plugins as the host reports them, and the actions on them. */
export class PluginList {
  readonly parts: SettingsDependencies;
  readonly #answer = signal<PluginAnswer | undefined>(undefined);
  readonly #found = signal<readonly FoundPackage[] | undefined>(undefined);
  readonly #look = setInterval(() => void this.refresh(), LOOK_EVERY_MS);

  constructor(parts: SettingsDependencies) {
    this.parts = parts;
    void this.refresh().then(() => this.refresh("?latest=true"));
  }

  /** `undefined` until the first answer. */
  get answer(): PluginAnswer | undefined {
    return this.#answer.value;
  }

  /** The result of the last search. */
  get found(): ReadonlySignal<readonly FoundPackage[] | undefined> {
    return this.#found;
  }

  /** The operation that runs, if one does. */
  get running(): Operation | undefined {
    return this.answer?.operations.find(({ endedAt }) => endedAt === null);
  }

  readonly close = (): void => clearInterval(this.#look);

  async refresh(query = ""): Promise<void> {
    try {
      this.#answer.value = await this.parts.api.get(`/plugins${query}` as "/plugins");
    } catch (error) {
      console.warn("could not read the plugins", error);
    }
  }

  search(text: string): void {
    const { api, formAction } = this.parts;
    void formAction.run(async () => {
      const path = `/plugins/search?q=${encodeURIComponent(text)}` as const;
      this.#found.value = (await api.get(path)).packages;
    });
  }

  install(source: string): void {
    this.#change("/plugins", { source });
  }

  update({ id, latest, pinned }: PluginView): void {
    this.#change(`${pathOf(id)}/update`, pinned && latest !== null ? { version: latest } : {});
  }

  allowScripts({ id, scripts }: PluginView): void {
    this.#change(`${pathOf(id)}/update`, { scripts: scripts.wanted });
  }

  pin(id: string, pinned: boolean): void {
    this.#run(() => this.parts.api.post(`${pathOf(id)}/pin`, { pinned }), words.peek().saved);
  }

  consent({ id, consent }: PluginView): void {
    const body = { needed: consent?.needed ?? [] };
    const path = `/modules/${encodeURIComponent(id)}/consent`;
    this.#run(() => this.parts.api.post(path, body, REGISTRY_MS), words.peek().consentGiven);
  }

  remove(id: string, purge: boolean): void {
    this.#run(async () => {
      await this.parts.api.delete(`${pathOf(id)}?purge=${purge}`);
      location.hash = "#/settings/plugins";
    }, words.peek().removed);
  }

  #change(path: string, body: object): void {
    this.#run(() => this.parts.api.post(path, body, 10 * REGISTRY_MS), words.peek().pluginReady);
  }

  #run(work: () => Promise<unknown>, done: string): void {
    void this.parts.formAction.run(work, done).then(() => this.refresh());
  }
}

/** The path of a plugin in the API. */
export function pathOf(id: string): `/plugins/${string}` {
  return `/plugins/${encodeURIComponent(id)}`;
}
