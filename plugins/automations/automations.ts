import { MantelError, type Cause, type Log } from "@mantel/plugin-sdk";
import type { BrokenFile, CodeAutomations } from "./code/code-automations.ts";
import { toCode } from "./code/to-code.ts";
import { type Documents, DocumentStore, type StoredDocument } from "./document-store.ts";
import type { Automation, RunResult, Trace } from "./engine/automation.ts";
import type { AutomationDocument } from "./engine/document.ts";
import type { AutomationState, Engine } from "./engine/engine.ts";
import { toAutomation } from "./engine/perform-actions.ts";
import { FOREVER } from "./engine/switches.ts";
import { devicesIn, parseDocument } from "./parse-document.ts";
import type { SimulationRequest } from "./simulation.ts";

/** An automation of either kind in the list. */
export interface AutomationView {
  readonly id: string;
  readonly name: string;
  readonly kind: Automation["kind"];
  readonly enabled: boolean;
  /** The instant at which it is switched on again; absent unless it is off for a time. */
  readonly offUntil?: string;
  readonly state: AutomationState;
  readonly lastRun: {
    readonly id: string;
    readonly startedAt: string;
    readonly endedAt: string | null;
    readonly result: RunResult;
  } | null;
  /** A user-facing sentence, or null. */
  readonly error: string | null;
}

/** A document as clients read it. What changes with each run is only in the list, so that its tag is its revision. */
export interface DocumentView extends AutomationDocument {
  readonly id: string;
  readonly kind: "document";
  readonly revision: number;
}

/** An automation in code, as far as it is data. */
export type CodeView = Pick<
  Automation,
  "id" | "name" | "kind" | "enabled" | "mode" | "triggers" | "conditions"
>;

interface Callbacks {
  /** Called after the automations have changed. */
  readonly changed: () => void;
  readonly code: () => CodeAutomations | undefined;
}

/** Automations of the engine that are documents, and what clients may do with all automations. */
export class Automations {
  readonly #engine: Engine;
  readonly #store: DocumentStore;
  /** Called after the automations have changed. */
  readonly #changed: () => void;
  readonly #code: () => CodeAutomations | undefined;

  private constructor(engine: Engine, store: DocumentStore, { changed, code }: Callbacks) {
    this.#engine = engine;
    this.#store = store;
    this.#changed = changed;
    this.#code = code;
  }

  /** Reads the documents and gives them to the engine. */
  static async open(
    engine: Engine,
    { storage, log, ...callbacks }: { storage: Documents; log: Log } & Callbacks,
  ): Promise<Automations> {
    const store = await DocumentStore.open(storage, log);
    for (const { id, document } of store.list()) engine.set(toAutomation(id, document));
    return new Automations(engine, store, callbacks);
  }

  list(): AutomationView[] {
    const loaded = this.#engine.automations().map((automation) => this.#view(automation));
    return [...loaded, ...(this.#code()?.broken() ?? []).map(brokenView)].toSorted(
      (a, b) => a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1),
    );
  }

  /** A document with its revision, or an automation in code. @throws MantelError `not_found` */
  get(id: string): DocumentView | CodeView {
    const stored = this.#store.find(id);
    if (stored) return documentView(stored);
    return this.#codeView(this.#automation(id));
  }

  /** @throws MantelError `invalid` with every fault, `conflict` for too many, `disk_full` */
  async create(value: unknown): Promise<DocumentView> {
    const document = parseDocument(value);
    const isTaken = (id: string) => this.#engine.automation(id) !== undefined;
    return this.#stored(await this.#store.create(document, isTaken));
  }

  /** @throws MantelError `invalid`, `not_found`, `revision_stale`, `disk_full` */
  async replace(id: string, value: unknown, ifMatch?: string): Promise<DocumentView> {
    this.#requireDocument(id);
    const document = parseDocument(value);
    return this.#stored(await this.#store.replace(id, document, ifMatch));
  }

  /**
   * Switches an automation on or off. A document stores that as a revision; of code the file does not change.
   * @throws MantelError as `replace`; `conflict` to switch code on whose file switches it off
   */
  async setEnabled(
    id: string,
    enabled: boolean,
    ifMatch?: string,
  ): Promise<DocumentView | CodeView> {
    const automation = this.#automation(id);
    if (automation.kind === "code") {
      if (enabled && !automation.enabled) {
        const sentence = `${id} is switched off in its file; remove .disabled() there`;
        throw new MantelError("conflict", sentence);
      }
      this.#switch(id, enabled ? undefined : FOREVER);
      return this.#codeView(automation);
    }
    const stored = this.#store.get(id);
    const isSame = stored.document.enabled === enabled && ifMatch === undefined;
    const document = { ...stored.document, enabled };
    const view = isSame
      ? documentView(stored)
      : this.#stored(await this.#store.replace(id, document, ifMatch));
    this.#switch(id, undefined);
    return view;
  }

  /** Switches an automation off until an instant. @throws MantelError `not_found`, `conflict` if it is off */
  snooze(id: string, until: number): DocumentView | CodeView {
    const { enabled } = this.#automation(id);
    if (!enabled || this.#engine.offUntil(id) === FOREVER) {
      throw new MantelError("conflict", `${id} is switched off; switch it on first`);
    }
    this.#switch(id, until);
    return this.get(id);
  }

  /** @throws MantelError `not_found`, `revision_stale`, `disk_full` */
  async remove(id: string, ifMatch?: string): Promise<void> {
    this.#requireDocument(id);
    await this.#store.remove(id, ifMatch);
    this.#engine.remove(id);
    this.#engine.variables.forget(id);
    this.#changed();
  }

  /** Forgets what is stored of automations that were deleted while nothing ran. Call it when all files are known. */
  forgetOthers(): void {
    this.#engine.forgetOthers(
      (id) => this.#store.has(id) || this.#code()?.hasFile(id.replace(/:\d+$/, "")) === true,
    );
  }

  /** The last revisions, newest first. @throws MantelError `not_found` */
  async history(
    id: string,
  ): Promise<readonly { revision: number; savedAt: string; name: string }[]> {
    this.#requireDocument(id);
    const revisions = await this.#store.history(id);
    return revisions.map(({ revision, savedAt, document }) => ({
      revision,
      savedAt,
      name: document.name,
    }));
  }

  /** Stores an earlier revision as the newest one. @throws MantelError as `replace`, `revision_unknown` */
  async restore(id: string, revision: number, ifMatch?: string): Promise<DocumentView> {
    this.#requireDocument(id);
    const document = await this.#store.revision(id, revision);
    return this.#stored(await this.#store.replace(id, document, ifMatch));
  }

  /** Starts a run, without conditions, and returns its id. @throws MantelError `not_found`, `conflict` */
  run(id: string, cause: Cause | undefined): string {
    this.#automation(id);
    const run = this.#engine.run(id, cause);
    if (run !== undefined) return run;
    throw new MantelError("conflict", `${id} has too many runs at once; wait until one has ended`);
  }

  /** The last runs, newest first. @throws MantelError `not_found` */
  traces(id: string): readonly Trace[] {
    this.#automation(id);
    return this.#engine.tracesOf(id);
  }

  /** The document of an id, for a simulation. @throws MantelError `not_found` */
  document(id: string): AutomationDocument {
    this.#requireDocument(id);
    return this.#store.get(id).document;
  }

  /** A document as the source text of a file. @throws MantelError `not_found`, `conflict` for code */
  asCode(id: string): string {
    const document = this.document(id);
    return toCode(document, (thing) => this.#code()?.thing(thing));
  }

  /** An automation of either kind, for a simulation. @throws MantelError `not_found` */
  simulated(id: string): Pick<SimulationRequest, "id" | "document" | "code"> {
    const automation = this.#automation(id);
    if (automation.kind === "document") return { id, document: this.document(id) };
    const { name, enabled, mode, triggers, conditions } = automation;
    const devices = this.#code()?.devicesOf(id) ?? [];
    const document = { name, enabled, mode, triggers, conditions, actions: [] };
    return { id, document, code: { automation, devices } };
  }

  #switch(id: string, offUntil: number | undefined): void {
    if (offUntil === undefined) this.#engine.switchOn(id);
    else this.#engine.switchOff(id, offUntil);
    this.#changed();
  }

  /** A view of code: it is off if its file or a user has switched it off. */
  #codeView({ id, name, kind, enabled, mode, triggers, conditions }: Automation): CodeView {
    const isOn = enabled && this.#engine.offUntil(id) === undefined;
    return { id, name, kind, enabled: isOn, mode, triggers, conditions };
  }

  #stored(stored: StoredDocument): DocumentView {
    this.#engine.set(toAutomation(stored.id, stored.document));
    this.#changed();
    return documentView(stored);
  }

  #automation(id: string): Automation {
    const automation = this.#engine.automation(id);
    if (automation) return automation;
    throw new MantelError("not_found", `no automation has the id ${id}`);
  }

  #requireDocument(id: string): void {
    if (this.#automation(id).kind === "document") return;
    throw new MantelError("conflict", `${id} is written in code; change its file`);
  }

  #view(automation: Automation): AutomationView {
    const { id, name, kind, enabled } = automation;
    const [last] = this.#engine.tracesOf(id);
    const offUntil = this.#engine.offUntil(id);
    const isSnoozed = enabled && offUntil !== undefined && offUntil !== FOREVER;
    const known = this.#store.find(id)?.document;
    const error =
      this.#engine.problemOf(id) ?? (known ? this.#missing(known) : this.#code()?.problemOf(id));
    return {
      id,
      name,
      kind,
      enabled: enabled && offUntil === undefined,
      ...(isSnoozed && { offUntil: new Date(offUntil).toISOString() }),
      state: this.#engine.stateOf(id),
      lastRun: last
        ? { id: last.id, startedAt: last.startedAt, endedAt: last.endedAt, result: last.result }
        : null,
      error: error ?? null,
    };
  }

  /** A sentence about devices that the home does not have. */
  #missing(document: AutomationDocument): string | undefined {
    const missing = [...devicesIn(document)].filter((id) => this.#engine.device(id) === undefined);
    if (missing.length === 0) return undefined;
    const names = missing.slice(0, 5).join(", ");
    return missing.length === 1
      ? `the device ${names} is not in this home`
      : `${missing.length} devices are not in this home: ${names}`;
  }
}

const brokenView = (file: BrokenFile): AutomationView => ({
  ...file,
  kind: "code",
  enabled: true,
  state: "failed",
  lastRun: null,
});

const documentView = ({ id, revision, document }: StoredDocument): DocumentView => ({
  ...document,
  id,
  kind: "document",
  revision,
});
