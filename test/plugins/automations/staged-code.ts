import type { SourceChange, Sources } from "@mantel/plugin-sdk";
import { CodeAutomations } from "../../../plugins/automations/code/code-automations.ts";
import { type CrashJournal, CrashWatch } from "../../../plugins/automations/code/crash-watch.ts";
import type { FromThread, NamedThing } from "../../../plugins/automations/code/protocol.ts";
import { CodeRuntime } from "../../../plugins/automations/code/runtime.ts";
import type { StartThread } from "../../../plugins/automations/code/thread.ts";
import type { Documents } from "../../../plugins/automations/document-store.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { StagedEngine, type StagedOptions } from "./staged-engine.ts";

export const LAMP = { id: "demo:light:1", name: "Hall lamp", state: { on: false } };
export const DOOR = { id: "demo:binary-sensor:1", name: "Front door", state: { contact: true } };
const THINGS: readonly NamedThing[] = [
  { id: LAMP.id, kind: "light", name: LAMP.name },
  { id: DOOR.id, kind: "binary-sensor", name: DOOR.name },
];

/** A thread in the test's own process, which the test can end. */
export function stagedThread() {
  const threads: { end(version: number): void }[] = [];
  const start: StartThread = (running, events) => {
    let isAlive = true;
    const runtime = new CodeRuntime({
      send: (message) => {
        const sent = structuredClone<FromThread>(message);
        queueMicrotask(() => isAlive && events.message(sent));
      },
      entered: () => undefined,
    });
    threads.push({
      end(version) {
        isAlive = false;
        running[0] = version;
        events.ended("its code failed: it was ended");
      },
    });
    return {
      post: (message) => {
        const sent = structuredClone(message);
        queueMicrotask(() => isAlive && runtime.take(sent));
      },
      terminate: async () => void (isAlive = false),
    };
  };
  return { start, threads };
}

function memoryStorage(values = new Map<string, string>()): Documents {
  return {
    get: async (key) => JSON.parse(values.get(key) ?? "null") ?? undefined,
    set: async (key, value) => void values.set(key, JSON.stringify(value)),
    delete: async (key) => void values.delete(key),
  };
}

/** Values that survive a crash. */
function memoryJournal(): CrashJournal {
  const values = new Map<string, unknown>();
  return Object.assign(values, { close: async () => undefined });
}

export interface CodeOptions extends StagedOptions {
  readonly staged?: StagedEngine;
  readonly values?: Map<string, string>;
  readonly journal?: CrashJournal;
  readonly hungMs?: number;
  readonly loopMs?: number;
  readonly loadingMs?: number;
  readonly things?: readonly NamedThing[];
  readonly startThread?: StartThread;
}

/** Automations in JavaScript with the module `mantel`, in a home with a lamp and a door. */
export async function stageCode(
  files: Readonly<Record<string, string>>,
  options: CodeOptions = {},
) {
  const staged = options.staged ?? new StagedEngine({ devices: [LAMP, DOOR], ...options });
  const log = collectedLog();
  const values = options.values ?? new Map<string, string>();
  const journal = options.journal ?? memoryJournal();
  const { start, threads } = stagedThread();
  let listener: (change: SourceChange) => void = () => undefined;
  const compiled = (name: string, code: string): SourceChange => ({
    name,
    kind: "compiled",
    source: { hash: code, code, map: "" },
  });
  const sources: Sources = {
    async follow(given) {
      listener = given;
      for (const [name, code] of Object.entries(files)) listener(compiled(name, code));
    },
    describe: async () => undefined,
  };
  const code = await CodeAutomations.open(
    {
      engine: staged.engine,
      sources,
      storage: memoryStorage(values),
      log,
      startThread: options.startThread ?? start,
      crashes: new CrashWatch(journal),
      changed: () => undefined,
      loadingMs: options.loadingMs,
      ...(options.loopMs !== undefined && { loopMs: options.loopMs }),
      ...(options.hungMs !== undefined && { hungMs: options.hungMs }),
    },
    options.things ?? THINGS,
  );
  const turn = async (): Promise<void> => {
    for (let turns = 0; turns < 3; turns++) await new Promise(setImmediate);
    await staged.settled();
  };
  const change = (given: SourceChange): Promise<void> => {
    listener(given);
    return turn();
  };
  const moveDoor = (contact: boolean): Promise<void> => {
    staged.change(DOOR.id, { contact });
    return turn();
  };
  return {
    staged,
    engine: staged.engine,
    code,
    log,
    values,
    threads,
    things: THINGS,
    turn,
    save: (name: string, text: string) => change(compiled(name, text)),
    change,
    open: () => moveDoor(false),
    close: () => moveDoor(true),
    /** Starts everything again, as after the process has ended unexpectedly. */
    async crash() {
      const next = staged.restarted({ devices: staged.engine.devices() });
      return stageCode(files, { ...options, staged: next, values, journal });
    },
    /** Starts everything again from what is stored, as after an orderly restart. */
    async restart(again: Readonly<Record<string, string>> = files) {
      await code.hold();
      const next = staged.restarted({ devices: staged.engine.devices() });
      await code.stop();
      return stageCode(again, { ...options, staged: next, values, journal });
    },
  };
}
