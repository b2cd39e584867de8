import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals-core";
import { type Api, ApiError } from "../api.ts";
import { sameJson } from "../editor/document.ts";
import { Undo } from "../editor/undo.ts";
import {
  type AutomationDocument,
  contentOf,
  type Part,
  type StoredAutomation,
  type Trace,
  tracesIn,
} from "./document.ts";
import { conflictsOf, merged, type MergedPart } from "./merge.ts";
import { type Path, pointerOf, withItem, withMoved, withoutItem, withValue } from "./operations.ts";
import { PastRun } from "./past-run.ts";
import { pathOf, readDocument, reasonOf } from "./requests.ts";
import { words } from "./words.ts";

/** A message above the sentence. */
export interface Message {
  readonly text: string;
  readonly failed: boolean;
}

interface Start {
  readonly api: Api;
  readonly announce: (text: string) => void;
}

/** The draft of one automation, and all actions on it. Each edit is an undo step. */
export class AutomationEditor {
  readonly #api: Api;
  readonly #announce: (text: string) => void;
  readonly #history: Signal<Undo<AutomationDocument>>;
  readonly #base: Signal<StoredAutomation | undefined>;
  readonly #theirs = signal<StoredAutomation | undefined>(undefined);
  readonly #takeTheirs = signal<ReadonlySet<MergedPart>>(new Set());
  readonly #busy = signal(false);
  readonly #message = signal<Message | undefined>(undefined);
  readonly #faults = signal<ReadonlyMap<string, string>>(new Map());
  readonly #traces = signal<readonly Trace[]>([]);
  readonly #code = signal<string | undefined>(undefined);
  readonly #webhookPath = signal<string | undefined>(undefined);
  #isWebhookPathRead = false;
  readonly #empty: AutomationDocument;

  readonly history: ReadonlySignal<Undo<AutomationDocument>>;
  readonly document = computed(() => this.history.value.value);
  /** The automation as the host has it; `undefined` if it does not have it. */
  readonly base: ReadonlySignal<StoredAutomation | undefined>;
  readonly isDirty = computed(
    () => !sameJson(contentOf(this.document.value), contentOf(this.base.value ?? this.#empty)),
  );
  readonly busy: ReadonlySignal<boolean> = this.#busy;
  readonly message: ReadonlySignal<Message | undefined> = this.#message;
  /** The faults of the last save, by JSON pointer (RFC 6901). */
  readonly faults: ReadonlySignal<ReadonlyMap<string, string>> = this.#faults;
  /** A newer version that somebody else saved, until it is merged into the draft. */
  readonly theirs: ReadonlySignal<StoredAutomation | undefined> = this.#theirs;
  readonly takeTheirs: ReadonlySignal<ReadonlySet<MergedPart>> = this.#takeTheirs;
  readonly conflicts = computed(() => {
    const versions = this.#versions.value;
    return versions ? conflictsOf(versions) : [];
  });
  /** The last runs, the newest first. */
  readonly traces: ReadonlySignal<readonly Trace[]> = this.#traces;
  /** The stored automation as the source text of a file, while it is shown. */
  readonly code: ReadonlySignal<string | undefined> = this.#code;
  /** The JSON pointer of the part whose form is open. Views may set it. */
  readonly opened = signal<string | undefined>(undefined);
  /** The id of the run that is shown; absent means the last one. Views may set it. */
  readonly shownTrace = signal<string | undefined>(undefined);

  /** Tries the draft against the past. */
  readonly past: PastRun;

  readonly #versions = computed(() => {
    const [base, theirs] = [this.base.value, this.theirs.value];
    return base && theirs && { base, mine: this.document.value, theirs };
  });

  /** `stored` is absent for a new automation, which begins as `draft`. */
  constructor({ api, announce }: Start, draft: AutomationDocument, stored?: StoredAutomation) {
    this.#api = api;
    this.#announce = announce;
    this.history = this.#history = signal(Undo.of(contentOf(draft)));
    this.base = this.#base = signal(stored);
    this.past = new PastRun(api, () => ({ document: contentOf(this.document.peek()) }));
    this.#empty = { ...contentOf(draft), triggers: [], conditions: [], actions: [] };
  }

  /** The secret path of webhooks; `undefined` until it is read. Read it while drawing. */
  webhookPath(): string | undefined {
    if (!this.#isWebhookPathRead) {
      this.#isWebhookPathRead = true;
      this.#api.get("/automations/webhooks").then(
        ({ path }) => (this.#webhookPath.value = path),
        (error: unknown) => console.warn("could not read the path of webhooks", error),
      );
    }
    return this.#webhookPath.value;
  }

  get id(): string | undefined {
    return this.#base.peek()?.id;
  }

  /** Changes the value at a place. Steps in a row at one place are one. */
  change(path: Path, value: unknown): void {
    const next = withValue(this.document.peek(), path, value);
    this.#record(next, words.peek().changed, pointerOf(path));
  }

  /** Adds a part at the end of a list, and opens its form. */
  add(list: Path, part: Part): void {
    const next = withItem(this.document.peek(), list, part);
    this.#record(next, words.peek().added);
    const items = list.reduce<unknown>(
      (value, key) => (value as Readonly<Record<string | number, unknown>>)[key],
      next,
    );
    this.opened.value = pointerOf([...list, (items as readonly unknown[]).length - 1]);
  }

  remove(path: Path): void {
    this.#record(withoutItem(this.document.peek(), path), words.peek().removed);
    this.opened.value = undefined;
  }

  move(path: Path, by: number): void {
    this.#record(withMoved(this.document.peek(), path, by), words.peek().moved);
    this.opened.value = undefined;
  }

  undo(): void {
    this.#history.value = this.#history.peek().undone();
    this.opened.value = undefined;
    this.#announce(words.peek().undo);
  }

  redo(): void {
    this.#history.value = this.#history.peek().redone();
    this.opened.value = undefined;
    this.#announce(words.peek().redo);
  }

  /** Stores the draft. Returns true on success. A newer version of somebody else becomes `theirs`. */
  async save(): Promise<boolean> {
    if (this.#busy.peek() || this.#theirs.peek()) return false;
    const done = await this.#attempt(async () => {
      this.#base.value = await this.#store(contentOf(this.document.peek()));
      this.#code.value = undefined;
    }, words.peek().notSaved);
    if (done) this.#tell(words.peek().saved);
    return done;
  }

  /** Shows the stored automation as code, or hides the code. */
  async toggleCode(): Promise<void> {
    const { id } = this;
    if (this.#code.peek() !== undefined || id === undefined) {
      this.#code.value = undefined;
      return;
    }
    await this.#attempt(async () => {
      this.#code.value = (await this.#api.get(`${pathOf(id)}/code`)).code;
    }, words.peek().notShown);
  }

  /** Stores the shown code as a file of the module that runs automations, and switches the document off. */
  async turnIntoCode(module: string): Promise<void> {
    const code = this.#code.peek();
    const base = this.#base.peek();
    if (code === undefined || !base) return;
    const file = fileNameOf(base.name);
    const path = `/modules/${encodeURIComponent(module)}/sources/${file}` as const;
    const isStored = await this.#attempt(
      () => this.#api.post(path, { code }),
      words.peek().notTurned,
    );
    if (!isStored) return;
    await this.setEnabled(false);
    this.#code.value = undefined;
    this.#tell(words.peek().turnedIntoCode(file));
  }

  /** Switches the automation on or off at once. A new one is switched in its draft. */
  async setEnabled(enabled: boolean): Promise<void> {
    const base = this.#base.peek();
    if (!base) return this.change(["enabled"], enabled);
    const verb = enabled ? "enable" : "disable";
    await this.#attempt(
      async () => {
        await this.#api.post(`${pathOf(base.id)}/${verb}`);
        const stored = await readDocument(this.#api, base.id);
        const isOnlySwitched = sameJson(
          contentOf({ ...stored, enabled: base.enabled }),
          contentOf(base),
        );
        // The next save finds all other changes.
        this.#base.value = isOnlySwitched ? stored : { ...base, enabled };
        this.#history.value = this.#history
          .peek()
          .done({ ...this.document.peek(), enabled }, verb, "enabled");
      },
      (reason) => reason,
    );
  }

  /** Runs the actions of the stored automation once, without the conditions. */
  async run(): Promise<void> {
    const { id } = this;
    if (id === undefined) return;
    const texts = words.peek();
    if (await this.#attempt(() => this.#api.post(`${pathOf(id)}/run`), texts.notStarted)) {
      this.shownTrace.value = undefined;
      this.#tell(texts.started);
      await this.readTraces();
    }
  }

  /** Reads the last runs again. Without an answer the known ones stay. */
  async readTraces(): Promise<void> {
    const { id } = this;
    if (id === undefined) return;
    try {
      this.#traces.value = tracesIn(await this.#api.get(`${pathOf(id)}/traces`));
    } catch (error) {
      console.warn("could not read the runs of an automation", error);
    }
  }

  /** Decides a conflict: for their side or for mine. */
  decide(part: MergedPart, isTheirs: boolean): void {
    const parts = new Set(this.#takeTheirs.peek());
    if (isTheirs) parts.add(part);
    else parts.delete(part);
    this.#takeTheirs.value = parts;
  }

  /** Merges `theirs` into the draft, as an undo step. */
  takeOver(): void {
    const versions = this.#versions.peek();
    const theirs = this.#theirs.peek();
    if (!versions || !theirs) return;
    this.#record(merged(versions, this.#takeTheirs.peek()), words.peek().merge);
    this.#base.value = theirs;
    this.#theirs.value = undefined;
    this.#takeTheirs.value = new Set();
    this.#message.value = undefined;
  }

  warn(text: string): void {
    this.#message.value = { text, failed: true };
  }

  /**
   * @throws ApiError
   */
  async #store(content: AutomationDocument): Promise<StoredAutomation> {
    const base = this.#base.peek();
    const answer = base
      ? await this.#api.change("PUT", pathOf(base.id), { body: content, revision: base.revision })
      : await this.#api.post("/automations", content);
    return answer as StoredAutomation;
  }

  /** Runs a request. A refusal is shown with its faults, and the draft stays. */
  async #attempt(
    act: () => Promise<unknown>,
    failed: (reason: string) => string,
  ): Promise<boolean> {
    this.#busy.value = true;
    this.#message.value = undefined;
    this.#faults.value = new Map();
    try {
      await act();
      return true;
    } catch (error) {
      await this.#refused(error, failed);
      return false;
    } finally {
      this.#busy.value = false;
    }
  }

  async #refused(error: unknown, failed: (reason: string) => string): Promise<void> {
    const { id } = this;
    if (error instanceof ApiError && error.status === 412 && id !== undefined) {
      const theirs = await readDocument(this.#api, id).catch(() => undefined);
      if (theirs) {
        this.#theirs.value = theirs;
        return this.#announce(words.peek().conflict);
      }
    }
    if (error instanceof ApiError && [404, 412].includes(error.status) && id !== undefined) {
      this.#base.value = undefined;
      return this.warn(words.peek().isGone);
    }
    const faults = error instanceof ApiError ? error.faults : [];
    this.#faults.value = new Map(faults.map(({ pointer, detail }) => [pointer, detail]));
    this.warn(failed(reasonOf(error)));
  }

  #record(document: AutomationDocument, label: string, key?: string): void {
    if (sameJson(document, this.document.peek())) return;
    this.#history.value = this.#history.peek().done(document, label, key);
    this.#message.value = undefined;
    this.#faults.value = new Map();
  }

  #tell(text: string): void {
    this.#message.value = { text, failed: false };
  }
}

/** The name of a file for an automation, such as `hall-light.ts`. */
function fileNameOf(name: string): string {
  const plain = name
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-");
  return `${plain.slice(0, 60).replaceAll(/^-|-$/g, "") || "automation"}.ts`;
}
