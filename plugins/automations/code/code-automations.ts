import type { Log, SourceChange, Sources } from "@mantel/plugin-sdk";
import type { Documents } from "../document-store.ts";
import type { Automation, Run } from "../engine/automation.ts";
import type { Engine } from "../engine/engine.ts";
import { parseDocument } from "../parse-document.ts";
import { CodeCalls, sentenceOf } from "./code-calls.ts";
import {
  CodeStore,
  type StoredCode,
  type StoredFile,
  type StoredVersion,
  versionKey,
} from "./code-store.ts";
import type { CrashWatch, RunningCode } from "./crash-watch.ts";
import type { Definition, FromThread, Loaded, NamedThing, ToThread } from "./protocol.ts";
import { nameOf } from "./runtime.ts";
import { CodeThread, type StartThread } from "./thread.ts";

/** The longest wait at a start for the files to be loaded; the others follow. A start must end within its deadline. */
const LOADING_MS = 5_000;

const ENDED_PROCESS =
  "its code ended the whole process, such as with more memory than a plugin may have; it does not run until it is saved again";

interface LoadedVersion {
  readonly number: number;
  readonly key: string;
  readonly file: string;
  readonly code: string;
  readonly map: string;
  names: Readonly<Record<string, string>>;
  /** Runs that have asked for it. */
  runs: number;
  /** True if its code does not end or has failed; it is not loaded again. */
  isSetAside: boolean;
}

interface CodeFile {
  /** The version in force: the last one that could be loaded. */
  current?: LoadedVersion;
  loading?: LoadedVersion;
  /** The ids of its automations. */
  ids: readonly string[];
  /** An error of the compiler or of loading. The version in force continues. */
  fault?: string;
  warning?: string | undefined;
}

/** A file of which no automation runs, as the list shows it. */
export interface BrokenFile {
  readonly id: string;
  readonly name: string;
  readonly error: string;
}

interface Dependencies {
  readonly engine: Engine;
  readonly sources: Sources;
  readonly storage: Documents;
  readonly log: Log;
  readonly startThread: StartThread;
  /** Absent where nothing outlives the process, as in tests that users write. */
  readonly crashes?: CrashWatch;
  /** Called after the automations have changed. */
  readonly changed: () => void;
  /** The longest wait for the files in `open`; absent: five seconds. */
  readonly loadingMs?: number | undefined;
  readonly hungMs?: number;
  readonly loopMs?: number;
}

/** A run keeps the version of its code. */
interface Kept {
  readonly version: string;
  readonly index: number;
}

/** Automations that are TypeScript files. */
export class CodeAutomations {
  readonly #parts: Dependencies;
  readonly #files = new Map<string, CodeFile>();
  readonly #versions = new Map<number, LoadedVersion>();
  readonly #thread: CodeThread;
  readonly #calls: CodeCalls;
  readonly #store: CodeStore;
  #things: readonly NamedThing[] = [];
  #stored: ReadonlyMap<string, StoredFile> = new Map();
  #lastNumber = 0;
  #whenLoaded: (() => void)[] = [];
  #followed: Promise<boolean> = Promise.resolve(false);
  #isStopped = false;

  private constructor(parts: Dependencies) {
    this.#parts = parts;
    this.#thread = new CodeThread({
      start: parts.startThread,
      message: (message) => this.#take(message),
      loopMs: parts.loopMs,
      lost: (version, reason) => this.#lost(version, reason),
      ...(parts.crashes && { watch: this.#watchOf(parts.crashes) }),
    });
    this.#calls = new CodeCalls({
      post: (message) => this.#thread.post(message),
      hung: (version, reason) => this.#setAside(version, reason),
      hungMs: parts.hungMs,
    });
    this.#store = new CodeStore(parts.storage, parts.log, () => this.#present());
  }

  /** Follows the files, and gives their automations to the engine. */
  static async open(parts: Dependencies, things: readonly NamedThing[]): Promise<CodeAutomations> {
    const code = new CodeAutomations(parts);
    code.#things = things;
    code.#stored = await code.#store.load();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, parts.loadingMs ?? LOADING_MS);
    });
    code.#followed = code.#follow();
    await Promise.race([code.#followed, late]);
    clearTimeout(timer);
    return code;
  }

  /** Never rejects. */
  async #follow(): Promise<boolean> {
    const taken = new Set<Promise<void>>();
    try {
      await this.#parts.sources.follow((change) => {
        const done = this.#changed(change).finally(() => taken.delete(done));
        taken.add(done);
      });
      await Promise.all(taken);
      await this.#loaded();
      return true;
    } catch (error) {
      this.#parts.log.error("cannot follow the files of automations", { error });
      return false;
    }
  }

  /** Resolves when the present files were loaded, or have failed; with false if they cannot be followed. */
  get followed(): Promise<boolean> {
    return this.#followed;
  }

  hasFile(name: string): boolean {
    return this.#files.has(name);
  }

  /** Files of which no automation runs, because they could not be loaded. */
  broken(): BrokenFile[] {
    return [...this.#files]
      .filter(([, { current, fault }]) => !current && fault !== undefined)
      .map(([id, { fault = "" }]) => ({ id, name: nameOf(id), error: fault }));
  }

  /** A user-facing sentence about the file of an automation. */
  problemOf(id: string): string | undefined {
    const file = [...this.#files.values()].find(({ ids }) => ids.includes(id));
    return file?.fault ?? file?.warning;
  }

  /** The ids of the devices that the file of an automation names. */
  devicesOf(id: string): string[] {
    const file = [...this.#files.values()].find(({ ids }) => ids.includes(id));
    return Object.values(file?.current?.names ?? {});
  }

  /** A device or scene of the home. */
  thing(id: string): NamedThing | undefined {
    return this.#things.find((each) => each.id === id);
  }

  /** Takes the devices and scenes of the home. Files whose names may now mean something else are loaded again. */
  setThings(things: readonly NamedThing[]): void {
    const before = new Map(this.#things.map(({ id, name }) => [id, name]));
    const changed = new Set(
      things.filter(({ id, name }) => before.get(id) !== name).map(({ id }) => id),
    );
    const present = new Set(things.map(({ id }) => id));
    for (const id of before.keys()) if (!present.has(id)) changed.add(id);
    this.#things = things;
    if (this.#files.size === 0 || changed.size === 0) return;
    this.#thread.post({ kind: "home", things });
    for (const { current } of this.#files.values()) {
      if (!current || current.isSetAside) continue;
      const isConcerned = Object.entries(current.names).some(
        ([key, id]) => changed.has(id) || key === id,
      );
      if (isConcerned) this.#thread.post({ kind: "load", version: current });
    }
  }

  /** Stores the code with which the present runs began. Call it before the engine is stopped. */
  async hold(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    await this.#store.close();
    await this.#parts.crashes?.close();
  }

  /** Ends the thread. */
  async stop(): Promise<void> {
    await this.hold();
    this.#calls.stop();
    await this.#thread.stop();
  }

  #watchOf(crashes: CrashWatch): NonNullable<ConstructorParameters<typeof CodeThread>[0]["watch"]> {
    return {
      isCareful: () => crashes.isCareful,
      begins: (message) => {
        const version = this.#versions.get(this.#numberOf(message) ?? 0);
        if (version) crashes.begin(version);
      },
      ended: () => crashes.end(),
    };
  }

  /** The number of the version whose code runs with a message. */
  #numberOf(message: ToThread): number | undefined {
    switch (message.kind) {
      case "load":
        return message.version.number;
      case "run":
        return message.version;
      case "result":
        return this.#calls.versionOf(message.call);
      default:
        return undefined;
    }
  }

  async #changed(change: SourceChange): Promise<void> {
    const { name } = change;
    if (change.kind === "deleted") return this.#delete(name);
    const isFirst = this.#files.size === 0;
    const wasKnown = this.#files.has(name);
    const file: CodeFile = this.#files.get(name) ?? { ids: [] };
    this.#files.set(name, file);
    if (isFirst) this.#thread.post({ kind: "home", things: this.#things });
    if (change.kind === "faulty") {
      const { message, line } = change.fault;
      this.#faulty(file, name, `${change.fault.file ?? name}:${line ?? 1}: ${message}`);
      return this.#loadLastGood(file, name);
    }
    const key = versionKey(name, change.source.code);
    if (wasKnown) this.#parts.crashes?.forgive({ file: name, key });
    if (this.#isToBlame({ file: name, key })) {
      this.#faulty(file, name, `${name}: ${ENDED_PROCESS}`);
      return this.#loadLastGood(file, name);
    }
    delete file.fault;
    this.#load(file, name, change.source);
  }

  async #loadLastGood(file: CodeFile, name: string): Promise<void> {
    if (file.current || file.loading) return;
    const key = this.#stored.get(name)?.key;
    if (key === undefined || this.#isToBlame({ file: name, key })) return;
    const lastGood = await this.#store.version(key);
    if (lastGood && !file.current && !file.loading) this.#load(file, name, lastGood);
  }

  #isToBlame(code: RunningCode): boolean {
    return this.#parts.crashes?.isToBlame(code) ?? false;
  }

  #load(file: CodeFile, name: string, { code, map }: { code: string; map: string }): void {
    const { names } = file.current ?? this.#stored.get(name) ?? { names: {} };
    const key = versionKey(name, code);
    const { current } = file;
    const isSame = current?.key === key && current.map === map && !current.isSetAside;
    const version = isSame ? current : this.#newVersion({ key, file: name, code, map }, names);
    const replaced = file.loading;
    file.loading = version;
    if (replaced && replaced !== version) this.#release(replaced);
    this.#thread.post({ kind: "load", version });
  }

  #take(message: Exclude<FromThread, { kind: "pong" }>): void {
    switch (message.kind) {
      case "loaded":
        return this.#inForce(message.version, message);
      case "failed":
        return this.#notLoaded(message.version, sentenceOf(message));
      case "step":
        return this.#calls.takeStep(message);
      case "ended":
        return this.#calls.takeEnd(message);
      case "crashed":
        return this.#setAside(message.version, `its code failed: ${sentenceOf(message)}`);
      case "printed": {
        const automation = this.#versions.get(message.version)?.file;
        return this.#parts.log[message.level]("an automation printed", {
          automation,
          text: message.text,
        });
      }
    }
  }

  /** Replaces the automations of a file by those of the loaded version. */
  #inForce(number: number, { definitions, names, variables, warnings }: Loaded): void {
    const version = this.#versions.get(number);
    const file = version && this.#files.get(version.file);
    if (!file || (file.loading !== version && file.current !== version)) return; // loaded for its runs
    let automations: readonly Automation[];
    try {
      automations = definitions.map((each, index) => this.#automation(version, each, index));
    } catch (error) {
      return this.#notLoaded(number, (error as Error).message);
    }
    const before = file.current;
    const isNew = file.loading === version;
    if (isNew) delete file.loading;
    file.current = version;
    version.names = Object.fromEntries(Object.entries(names));
    const ids = automations.map(({ id }) => id);
    const gone = file.ids.filter((id) => !ids.includes(id));
    file.ids = ids;
    const [warning] = warnings;
    if (isNew || warning !== file.warning) {
      for (const each of warnings)
        this.#parts.log.warn("an automation uses something that does not exist", { problem: each });
    }
    file.warning = warning;
    const { engine } = this.#parts;
    engine.variables.declare(version.file, variables);
    for (const automation of automations) engine.set(automation);
    for (const id of gone) engine.remove(id);
    if (before && before !== version) this.#release(before);
    this.#settle();
  }

  #automation(version: LoadedVersion, definition: Definition, index: number): Automation {
    const { name, enabled, mode, triggers, conditions } = parseDocument({
      ...definition,
      actions: [],
    });
    const id = index === 0 ? version.file : `${version.file}:${index + 1}`;
    const kept: Kept = { version: version.key, index };
    return {
      id,
      name,
      kind: "code",
      enabled,
      mode,
      triggers,
      conditions,
      owner: version.file,
      kept,
      perform: (run, given) => this.#perform(run, given as Kept),
    };
  }

  /** Runs the function of the version with which the run began. */
  async #perform(run: Run, { version: key, index }: Kept): Promise<void> {
    const version =
      [...this.#versions.values()].find((each) => each.key === key) ?? (await this.#restored(key));
    version.runs++;
    try {
      await this.#calls.start(version.number, index, run);
    } finally {
      version.runs--;
      if (!this.#isStopped) this.#release(version);
    }
  }

  /** Loads a version that only runs from before a restart need. */
  async #restored(key: string): Promise<LoadedVersion> {
    const stored = await this.#store.version(key);
    if (!stored) throw new Error("the automation has changed, so its run cannot be continued");
    if (this.#isToBlame(stored)) throw new Error(ENDED_PROCESS);
    const known = [...this.#versions.values()].find((each) => each.key === key);
    if (known) return known;
    const version = this.#newVersion(stored, this.#stored.get(stored.file)?.names ?? {});
    this.#thread.post({ kind: "load", version });
    return version;
  }

  #newVersion(
    { key, file, code, map }: StoredVersion,
    names: LoadedVersion["names"],
  ): LoadedVersion {
    const number = ++this.#lastNumber;
    const version = { number, key, file, code, map, names, runs: 0, isSetAside: false };
    this.#versions.set(number, version);
    return version;
  }

  #notLoaded(number: number, sentence: string): void {
    const version = this.#versions.get(number);
    const file = version && this.#files.get(version.file);
    if (!version || !file || file.loading !== version) return;
    delete file.loading;
    this.#faulty(file, version.file, `${version.file}: ${sentence}`);
    if (file.current !== version) this.#release(version);
    this.#settle();
  }

  /** Stops the automations of a file until it is saved again. */
  #setAside(number: number, reason: string): void {
    const version = this.#versions.get(number);
    const file = version && this.#files.get(version.file);
    if (!version || !file) return;
    if (file.loading === version) return this.#notLoaded(number, reason);
    version.isSetAside = true;
    const failure = `${version.file} is set aside until it is saved again: ${reason}`;
    this.#parts.log.error("set an automation aside", { automation: version.file, reason });
    this.#calls.fail(number, failure);
    const { engine } = this.#parts;
    for (const id of file.ids) {
      const automation = engine.automation(id);
      if (automation) engine.set({ ...automation, failure });
    }
    this.#parts.changed();
  }

  /** The thread has ended. The code of the others continues in a new one. */
  #lost(number: number, reason: string): void {
    if (number === 0) this.#parts.log.error("the thread of automations has ended", { reason });
    else this.#setAside(number, reason);
    this.#thread.post({ kind: "home", things: this.#things });
    for (const version of this.#versions.values()) {
      if (!version.isSetAside) this.#thread.post({ kind: "load", version });
    }
    this.#calls.repeat();
  }

  #faulty(file: CodeFile, name: string, sentence: string): void {
    file.fault = sentence;
    this.#parts.log.error(
      file.current
        ? "an automation cannot be loaded; its last good code continues"
        : "an automation cannot be loaded",
      { automation: name, problem: sentence },
    );
    this.#parts.changed();
  }

  #delete(name: string): void {
    const file = this.#files.get(name);
    if (!file) return;
    this.#files.delete(name);
    this.#parts.crashes?.forget(name);
    for (const id of file.ids) this.#parts.engine.remove(id);
    this.#parts.engine.variables.forget(name);
    for (const version of [file.current, file.loading]) if (version) this.#release(version);
    this.#settle();
  }

  /** Forgets a version that is not in force and has no runs. */
  #release(version: LoadedVersion): void {
    const file = this.#files.get(version.file);
    if (version.runs > 0 || file?.current === version || file?.loading === version) return;
    if (!this.#versions.delete(version.number)) return;
    this.#thread.post({ kind: "forget", version: version.number });
    this.#store.changed();
  }

  #settle(): void {
    this.#store.changed();
    this.#parts.changed();
    const isLoading = [...this.#files.values()].some(({ loading }) => loading !== undefined);
    if (!isLoading) for (const loaded of this.#whenLoaded.splice(0)) loaded();
  }

  /** Resolves when the files that are known now were loaded, or have failed. */
  async #loaded(): Promise<void> {
    if (![...this.#files.values()].some(({ loading }) => loading !== undefined)) return;
    await new Promise<void>((resolve) => void this.#whenLoaded.push(resolve));
  }

  #present(): StoredCode {
    const files = new Map<string, StoredFile>();
    for (const [name, { current }] of this.#files) {
      if (!current) continue;
      const found = Object.entries(current.names).filter(([key, id]) => key !== id);
      files.set(name, { key: current.key, names: Object.fromEntries(found) });
    }
    const versions = [...this.#versions.values()].filter(
      (version) => version.runs > 0 || this.#files.get(version.file)?.current === version,
    );
    return {
      files,
      versions: new Map(
        versions.map(({ key, file, code, map }) => [key, { key, file, code, map }]),
      ),
    };
  }
}
