import { basename, dirname, resolve } from "node:path";
import { test as nodeTest } from "node:test";
import { fileURLToPath } from "node:url";
import type { Log, Sources, StateValue } from "@mantel/plugin-sdk";
import { instantOf, wallClock } from "@mantel/plugin-sdk/time";
import { compileSource } from "../../host/modules/sources/compile-source.ts";
import { CodeAutomations } from "../../plugins/automations/code/code-automations.ts";
import type { FromThread } from "../../plugins/automations/code/protocol.ts";
import { CodeRuntime } from "../../plugins/automations/code/runtime.ts";
import type { StartThread } from "../../plugins/automations/code/thread.ts";
import type {
  Automation,
  EngineDevice,
  EngineHome,
} from "../../plugins/automations/engine/automation.ts";
import { Engine } from "../../plugins/automations/engine/engine.ts";
import { toAutomation } from "../../plugins/automations/engine/perform-actions.ts";
import {
  type Happening,
  simulate as simulateHome,
  type Simulated as SimulatedHome,
} from "../../plugins/automations/engine/simulate.ts";
import { VirtualClock } from "../../plugins/automations/engine/virtual-clock.ts";
import { parseDocument } from "../../plugins/automations/parse-document.ts";

export { default as assert } from "node:assert/strict";

const DAY_MS = 24 * 60 * 60 * 1_000;

/** The function `test` of `node:test`. */
export const test = nodeTest;

/** A device of the simulated home. Its id is made from kind and name if it is absent. */
export type SimulatedDevice = Pick<EngineDevice, "kind" | "name" | "state" | "parts" | "extra"> &
  Partial<Pick<EngineDevice, "id" | "available">>;

/** Something that happens so long after the start. Devices are named by name or id. */
type Later = { readonly after: number } & (
  | { readonly device: string; readonly state: Readonly<Record<string, StateValue>> }
  | { readonly device: string; readonly event: string }
  | { readonly webhook: string }
  | { readonly topic: string; readonly payload: string }
  | { readonly start: true }
);

/** A simulation. Clock times have the form `2026-06-21T21:40`. */
export interface Simulation {
  readonly at: string;
  /** Files, relative to the working directory, and documents. */
  readonly automations: readonly (string | URL | object)[];
  readonly devices: readonly SimulatedDevice[];
  readonly happens?: readonly Later[];
  readonly calendarEvents?: readonly {
    readonly calendar: string;
    readonly title: string;
    readonly start: string;
    readonly end: string;
    readonly reminders?: readonly string[];
  }[];
  /** A day if absent. */
  readonly forMs?: number;
  /** `UTC` if absent. */
  readonly timeZone?: string;
  /** Without it, the home has no sun. */
  readonly coordinates?: EngineHome["coordinates"];
}

/** The result of a simulation. */
export interface Simulated extends SimulatedHome {
  readonly commands: readonly {
    /** Clock time, such as `2026-06-21T21:40:10`. */
    readonly at: string;
    /** The name of the device, or the id of the scene. */
    readonly device: string;
    readonly command: object;
    readonly automation: string;
  }[];
  /** The texts of notifications. */
  readonly messages: readonly string[];
}

/**
 * Lets automations run with a virtual clock in a home that is made up. Automations that are switched off run too. Each
 * command is confirmed at once.
 * @throws Error for a file that does not load or names a device that is not given, and for a wrong clock time
 * @throws MantelError `invalid` for a wrong document
 */
export async function simulate(simulation: Simulation): Promise<Simulated> {
  const { timeZone = "UTC", coordinates, forMs = DAY_MS } = simulation;
  const from = instantAt(simulation.at, timeZone);
  const devices = simulation.devices.map((given) => {
    const { id = `test:${given.kind}:${given.name}`, available = true } = given;
    return { ...given, id, available };
  });
  const calendarEvents = (simulation.calendarEvents ?? []).map(({ reminders, ...event }, at) => ({
    ...event,
    ...(reminders && { reminders: reminders.map((each) => instantAt(each, timeZone)) }),
    id: String(at),
    start: instantAt(event.start, timeZone),
    end: instantAt(event.end, timeZone),
  }));
  const loaded = await load(simulation.automations, devices, from);
  try {
    const result = await simulateHome({
      automations: loaded.automations,
      devices,
      happenings: (simulation.happens ?? []).flatMap((later) => happeningsOf(later, from, devices)),
      calendarEvents,
      timeZone,
      coordinates,
      from,
      to: from + forMs,
    });
    return { ...result, ...actionsIn(result, devices, timeZone) };
  } finally {
    await loaded.stop();
  }
}

function actionsIn(
  { timeline }: SimulatedHome,
  devices: readonly EngineDevice[],
  timeZone: string,
): Pick<Simulated, "commands" | "messages"> {
  const clockTime = (at: string) =>
    new Date(wallClock(Date.parse(at), timeZone)).toISOString().slice(0, 19);
  const commands = timeline.flatMap((entry) => {
    if (entry.kind !== "command" && entry.kind !== "scene") return [];
    const isScene = entry.kind === "scene";
    const device = isScene
      ? entry.scene
      : (devices.find(({ id }) => id === entry.device)?.name ?? entry.device);
    const command = isScene ? {} : entry.command;
    return [{ at: clockTime(entry.at), device, command, automation: entry.automation }];
  });
  return {
    commands,
    messages: timeline.flatMap((entry) => (entry.kind === "notify" ? [entry.message] : [])),
  };
}

function instantAt(clockTime: string, timeZone: string): number {
  const wall = Date.parse(`${clockTime}Z`);
  if (!Number.isNaN(wall)) return instantOf(wall, timeZone);
  throw new Error(`"${clockTime}" is not a clock time such as 2026-06-21T21:40`);
}

function happeningsOf(
  { after, ...later }: Later,
  from: number,
  devices: readonly EngineDevice[],
): Happening[] {
  const at = from + after;
  if (!("device" in later)) return [{ at, ...later }];
  const { device: named } = later;
  const id = devices.find((device) => device.id === named || device.name === named)?.id;
  if (id === undefined) throw new Error(`the simulated home has no device "${named}"`);
  if ("event" in later) return [{ at, device: id, event: later.event }];
  return Object.entries(later.state).map(([field, value]) => ({ at, device: id, field, value }));
}

/** Loads automations. Call `stop` when they have run. */
async function load(
  given: Simulation["automations"],
  devices: readonly EngineDevice[],
  now: number,
): Promise<{ automations: Automation[]; stop(): Promise<void> }> {
  const isFile = (each: string | URL | object): each is string | URL =>
    typeof each === "string" || each instanceof URL;
  const documents = given.filter((each) => !isFile(each));
  const files = given.filter(isFile);
  const engine = new Engine({
    clock: new VirtualClock(now),
    home: NO_HOME,
    warn: () => undefined,
    traced: () => undefined,
    ended: () => undefined,
  });
  for (const [at, document] of documents.entries()) {
    engine.set(toAutomation(`document-${at + 1}`, parseDocument(document)));
  }
  const code = await CodeAutomations.open(
    {
      engine,
      sources: await sourcesOf(files),
      storage: NO_STORAGE,
      log: SILENT,
      startThread: startHere,
      changed: () => undefined,
    },
    devices,
  );
  const stop = () => code.stop();
  const automations = engine.automations();
  const problem = [
    ...code.broken().map(({ error }) => error),
    ...automations.map(({ id }) => code.problemOf(id)),
  ].find((each) => each !== undefined);
  if (problem === undefined) return { automations, stop };
  await stop();
  throw new Error(problem);
}

async function sourcesOf(files: readonly (string | URL)[]): Promise<Sources> {
  const changes = await Promise.all(
    files.map(async (file) => {
      const path = resolve(file instanceof URL ? fileURLToPath(file) : file);
      const { change } = await compileSource(dirname(path), basename(path));
      return change;
    }),
  );
  return {
    async follow(listener) {
      for (const change of changes) listener(change);
    },
    describe: () => Promise.resolve(),
  };
}

/** Runs the code in the thread of the test. */
const startHere: StartThread = (_running, events) => {
  let isAlive = true;
  const runtime = new CodeRuntime({
    send: (message) => {
      const sent = structuredClone<FromThread>(message);
      queueMicrotask(() => isAlive && events.message(sent));
    },
    entered: () => undefined,
  });
  return {
    post: (message) => {
      const sent = structuredClone(message);
      queueMicrotask(() => isAlive && runtime.take(sent));
    },
    terminate: async () => void (isAlive = false),
  };
};

const NO_HOME: EngineHome = {
  timeZone: "UTC",
  coordinates: undefined,
  command: () => Promise.resolve(),
  activateScene: () => Promise.resolve(),
  notify: () => Promise.resolve(),
};

const NO_STORAGE = {
  get: () => Promise.resolve(undefined),
  set: () => Promise.resolve(),
  delete: () => Promise.resolve(),
};

const SILENT: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
