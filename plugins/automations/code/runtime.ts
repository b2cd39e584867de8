import { AsyncLocalStorage } from "node:async_hooks";
import { SourceMap, type SourceMapPayload } from "node:module";
import { format } from "node:util";
import { compileFunction } from "node:vm";
import type { StepRequest, StepResult } from "../engine/automation.ts";
import { createApi } from "./api.ts";
import type {
  CodeFault,
  Definition,
  FromThread,
  NamedThing,
  ToThread,
  Version,
} from "./protocol.ts";
import type { CallingRun } from "./steps.ts";

const LONGEST_MESSAGE = 1_000;
const MOST_WARNINGS = 20;

interface LoadedVersion {
  readonly version: Version;
  readonly map: SourceMap | undefined;
  readonly actions: ((run: object) => unknown)[];
}

interface ActiveCall {
  readonly version: LoadedVersion;
  readonly run: CallingRun;
  readonly waiting: Map<number, (result: StepResult) => void>;
}

interface Dependencies {
  readonly send: (message: FromThread) => void;
  /** Called with the number of the version whose code runs next; 0 when none does. */
  readonly entered: (version: number) => void;
}

/** Loads the files of automations and runs their functions. It knows nothing of time and of the home: steps do. */
export class CodeRuntime {
  readonly #parts: Dependencies;
  readonly #versions = new Map<number, LoadedVersion>();
  readonly #calls = new Map<number, ActiveCall>();
  readonly #current = new AsyncLocalStorage<{ version: LoadedVersion; run?: CallingRun }>();
  #things: readonly NamedThing[] = [];

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  take(message: ToThread): void {
    switch (message.kind) {
      case "home":
        this.#things = message.things;
        return;
      case "load":
        return this.#load(message.version);
      case "forget":
        return void this.#versions.delete(message.version);
      case "run":
        return void this.#run(message);
      case "result": {
        const call = this.#calls.get(message.call);
        if (!call) return;
        this.#parts.entered(call.version.version.number);
        call.waiting.get(message.step)?.(message.result);
        return void call.waiting.delete(message.step);
      }
      case "cancel":
        return void this.#calls.delete(message.call);
      case "ping":
        return this.#parts.send({ kind: "pong", ping: message.ping });
    }
  }

  /** Reports an error that no code caught. False if it comes from no automation. */
  crashed(error: unknown): boolean {
    const version = this.#current.getStore()?.version ?? this.#versionIn(error);
    if (!version) return false;
    const { number } = version.version;
    this.#parts.send({ kind: "crashed", version: number, ...this.#faultOf(error, version) });
    return true;
  }

  /** Prints a line for the code that runs. */
  print(level: "info" | "warn" | "error", parts: readonly unknown[]): void {
    const version = this.#current.getStore()?.version.version.number ?? 0;
    const text = format(...parts).slice(0, LONGEST_MESSAGE);
    this.#parts.send({ kind: "printed", version, level, text });
  }

  /** Wraps a callback of a timer, so that an endless loop in it is put down to its file. */
  withOwner(callback: (...given: unknown[]) => unknown): (...given: unknown[]) => unknown {
    const number = this.#current.getStore()?.version.version.number ?? 0;
    return (...given) => {
      this.#parts.entered(number);
      return callback(...given);
    };
  }

  #load(version: Version): void {
    const { number, file, map } = version;
    const loaded: LoadedVersion = { version, map: parseMap(map), actions: [] };
    const definitions: Definition[] = [];
    const names: Record<string, string> = {};
    const variables: Record<string, unknown> = {};
    const warnings = new Set<string>();
    const usual = nameOf(file);
    const api = createApi({
      name: usual,
      find: (kind, name) => {
        const { id, warning } = this.#find(kind, name, version.names);
        names[`${kind} ${name}`] = id;
        if (warning !== undefined && warnings.size < MOST_WARNINGS) {
          warnings.add(`${this.#placeIn(loaded)}: ${warning}`);
        }
        return id;
      },
      declare(name, initial) {
        if (!/^[A-Za-z][A-Za-z0-9_-]{0,59}$/.test(name)) {
          throw new Error(`"${name}" is not a name of a variable; use letters, digits, _ and -`);
        }
        variables[name] = initial ?? null;
      },
      define: ({ actions, name, ...definition }) => {
        const count = definitions.length;
        const own = name ?? (count === 0 ? usual : `${usual} ${count + 1}`);
        loaded.actions.push(actions);
        // Plain data from here on.
        definitions.push(JSON.parse(JSON.stringify({ ...definition, name: own })) as Definition);
      },
      run: () => {
        const run = this.#current.getStore()?.run;
        if (run) return run;
        throw new Error("commands and steps are for the function in .then(…)");
      },
    });
    this.#versions.set(number, loaded);
    this.#parts.entered(number);
    try {
      this.#current.run({ version: loaded }, () => evaluate(version, api));
      this.#parts.send({
        kind: "loaded",
        version: number,
        definitions,
        names,
        variables: JSON.parse(JSON.stringify(variables)) as Record<string, unknown>,
        warnings: [...warnings],
      });
    } catch (error) {
      this.#parts.send({ kind: "failed", version: number, ...this.#faultOf(error, loaded) });
    }
  }

  /** The device that a name meant before is still meant after a rename. */
  #find(
    kind: string,
    name: string,
    names: Version["names"],
  ): { readonly id: string; readonly warning?: string } {
    const before = this.#things.find(({ id }) => id === names[`${kind} ${name}`]);
    const isRenamed = before && before.name !== name && before.id !== name;
    if (before && !isRenamed) return { id: before.id };
    if (before) {
      const warning = `"${name}" is now called "${before.name}"; it is still found`;
      return { id: before.id, warning };
    }
    const found = this.#things.filter((each) => each.kind === kind && each.name === name);
    const [first, second] = found;
    const byId = this.#things.find((each) => each.id === name && each.kind === kind);
    if (byId) return { id: byId.id };
    if (!first) {
      // An id of something that is gone stays one.
      const id = name.includes(":") ? name : `${kind} ${name}`;
      return { id, warning: `no ${kind} is called "${name}"` };
    }
    if (!second) return { id: first.id };
    const ids = found.map(({ id }) => id).join(", ");
    return { id: first.id, warning: `several are called "${name}": ${ids}; write the id` };
  }

  async #run({ version: number, index, call, run }: Extract<ToThread, { kind: "run" }>) {
    const version = this.#versions.get(number);
    const actions = version?.actions[index];
    if (!version || !actions) {
      const fault = { message: "the automation is no longer in its file" };
      return this.#parts.send({ kind: "ended", call, fault });
    }
    const waiting: ActiveCall["waiting"] = new Map();
    const passed = new Map<string, number>();
    let last = 0;
    const calling: CallingRun = {
      ...run,
      step: (request: StepRequest) =>
        new Promise((resolve) => {
          const place = this.#placeIn(version);
          const key = `${request.type} ${place}`;
          const times = (passed.get(key) ?? 0) + 1;
          passed.set(key, times);
          const at = times === 1 ? place : `${place} (${times})`;
          const step = ++last;
          waiting.set(step, resolve);
          // A run that was cancelled never gets a result.
          if (this.#calls.has(call)) this.#sendStep({ kind: "step", call, step, at, request });
        }),
    };
    this.#calls.set(call, { version, run: calling, waiting });
    this.#parts.entered(number);
    try {
      await this.#current.run({ version, run: calling }, async () => actions(calling));
      if (this.#calls.delete(call)) this.#parts.send({ kind: "ended", call });
    } catch (error) {
      const fault = this.#faultOf(error, version);
      if (this.#calls.delete(call)) this.#parts.send({ kind: "ended", call, fault });
    }
  }

  /** @throws DataCloneError for what is not plain data */
  #sendStep(message: Extract<FromThread, { kind: "step" }>): void {
    this.#parts.send({
      ...message,
      request: JSON.parse(JSON.stringify(message.request)) as StepRequest,
    });
  }

  #faultOf(error: unknown, version: LoadedVersion): CodeFault {
    const message = (error instanceof Error ? error.message : String(error)).slice(
      0,
      LONGEST_MESSAGE,
    );
    const stack = error instanceof Error ? (error.stack ?? "") : "";
    const line = placeOf(stack, version)?.line;
    return { message, ...(line !== undefined && { line }) };
  }

  /** The line in the author's file that calls, such as `evening.ts:12`. */
  #placeIn(version: LoadedVersion): string {
    const place = placeOf(new Error("here").stack ?? "", version);
    return place ? `${place.file}:${place.line}` : version.version.file;
  }

  #versionIn(error: unknown): LoadedVersion | undefined {
    const stack = error instanceof Error ? (error.stack ?? "") : "";
    const number = Number(/automation-(\d+)\//.exec(stack)?.[1]);
    return this.#versions.get(number);
  }
}

const addressOf = ({ number, file }: Version) => `automation-${number}/${file}`;

function evaluate(version: Version, api: Record<string, unknown>): void {
  const require = (name: string): unknown => {
    if (name === "mantel") return api;
    throw new Error(`${name} cannot be imported here`);
  };
  const module = { exports: {} };
  const run = compileFunction(version.code, ["require", "module", "exports"], {
    filename: addressOf(version),
  }) as (...given: unknown[]) => void;
  run(require, module, module.exports);
}

/** The first place of a stack that is in the author's file. */
function placeOf(
  stack: string,
  { version, map }: LoadedVersion,
): { readonly file: string; readonly line: number } | undefined {
  const address = addressOf(version);
  for (const frame of stack.split("\n")) {
    const at = frame.indexOf(`${address}:`);
    if (at < 0) continue;
    const [line = 1, column = 1] = frame
      .slice(at + address.length + 1)
      .split(/[:)]/)
      .map(Number);
    const entry = map?.findEntry(line - 1, column - 1);
    if (!entry || !("originalLine" in entry)) return { file: version.file, line };
    const file = entry.originalSource.replace(/^(?:\.\/)+/, "");
    return { file, line: entry.originalLine + 1 };
  }
  return undefined;
}

function parseMap(text: string): SourceMap | undefined {
  if (text === "") return undefined;
  return new SourceMap(JSON.parse(text) as SourceMapPayload);
}

/** The name of a file in words: `hall-light.ts` is "Hall light". */
export function nameOf(file: string): string {
  const words = file.replace(/\.ts$/, "").replaceAll(/[-_.]+/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
