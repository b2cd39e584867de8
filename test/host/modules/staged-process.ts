import type { TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { ModuleFault } from "../../../host/api/module.ts";
import type { ConfigStore } from "../../../host/config/store.ts";
import type { Candidate } from "../../../host/modules/lifecycle/handover.ts";
import { LiveProcess } from "../../../host/modules/lifecycle/live-process.ts";
import type { ProcessLoader } from "../../../host/modules/lifecycle/process-loader.ts";
import type { Exit } from "../../../host/modules/process/exit-reason.ts";
import type { ResourceUsage } from "../../../host/modules/process/heartbeat.ts";
import type { Build } from "../../../host/modules/versions/version.ts";
import { emptyFolder } from "../../helpers/folder.ts";

const EXIT: Exit = {
  code: 7,
  signal: null,
  lastLines: [],
  isFlooding: false,
  isOutOfMemory: false,
};
/** The settings of the home. */
export const HOME = { locale: "en-GB", timeZone: "Europe/Berlin", pollSeconds: 30 };
export const COMMAND = { nativeId: "1", command: {}, commandId: "c" };

type Answers = Readonly<Record<string, (input: never) => unknown>>;

/** A module's live process, of processes that are none. Time is the test's. */
export async function stage(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 1_000;
  t.mock.method(performance, "now", () => now);
  const folder = await emptyFolder(t);
  const steps: string[] = [];
  const calls: { name: string; method: string; input: unknown; deadlineMs: number }[] = [];
  const crashes: [fault: ModuleFault, since: number][] = [];
  /** The moments at which a module that rests needed a process, and those at which a process was idle. */
  const [needs, idle] = [[] as number[], [] as number[]];
  const warnings: unknown[][] = [];
  const usage: ResourceUsage[] = [];
  const modules: Record<string, object> = {};
  const answers: Record<string, Answers> = {};
  const made = new Map<string, Candidate>();
  /** Overrides of the next candidates. */
  const changes: Record<string, unknown> = {};
  const exits = new Map<string, (exit: Exit) => void>();
  const build = (name: string, limits?: object, more?: object): Build =>
    ({
      hash: name,
      plugin: { id: "lamp", folder, manifest: { id: "lamp", limits, ...more } },
    }) as unknown as Build;
  const ui: Record<string, unknown> = { locale: HOME.locale, timeZone: HOME.timeZone };
  const devices = { pollSeconds: HOME.pollSeconds };
  const loader = {
    load: async (of: Build, startMs: number): Promise<Candidate> => {
      const { hash: name } = of;
      steps.push(`${name} loads within ${startMs} ms`);
      const exited = new Promise<Exit>((resolve) => exits.set(name, resolve));
      const call = async (method: string, input: unknown, deadlineMs: number) => {
        calls.push({ name, method, input, deadlineMs });
        steps.push(`${name} ${method}`);
        const answer = answers[name]?.[method];
        if (answer) return answer(input as never);
        return method === "quiesce" ? { drained: 2, faults: [], state: name } : undefined;
      };
      const candidate = {
        generation: {
          pid: process.pid,
          inspectPort: changes["inspectPort"],
          peer: { call },
          exited,
          terminate: async () => void steps.push(`${name} ends`),
        },
        build: of,
        loaded: {},
        request: { config: name, folders: { notes: folder } },
        ...changes,
      } as unknown as Candidate;
      made.set(name, candidate);
      return candidate;
    },
    explain: async (error: Error) => new MantelError("reload_failed", `because ${error.message}`),
    fits: () => true,
    warmEarly: () => steps.push("a warm process starts"),
  };
  const live = new LiveProcess("lamp", {
    loader: loader as unknown as ProcessLoader,
    events: {
      onCrash: (...crash) => crashes.push(crash),
      onUsage: (figures) => void (figures ? usage.push(figures) : steps.push("no figures")),
      onCallerChanged: () => steps.push("another caller"),
      onLive: () => undefined,
      onIdle: () => idle.push(now),
      onWakeRequested: () => needs.push(now),
      warn: (...warning) => warnings.push(warning),
    },
    config: { current: { modules, ui, devices } } as unknown as ConfigStore,
  });
  const mayCall = (name: string) => live.mayCallHost((made.get(name) as Candidate).generation);
  const exit = async (name: string, how: Partial<Exit> = {}) => {
    exits.get(name)?.({ ...EXIT, ...how });
    await setImmediate();
  };
  const pass = (ms: number) => void (now += ms);
  const deadlineOf = (method: string) =>
    calls.findLast((each) => each.method === method)?.deadlineMs;
  t.after(() => live.stop());
  return {
    live,
    steps,
    calls,
    crashes,
    warnings,
    usage,
    needs,
    idle,
    changes,
    modules,
    ui,
    answers,
    build,
    mayCall,
    exit,
    pass,
    deadlineOf,
    folder,
  };
}

export const failing = (message: string) => () => {
  throw new Error(message);
};
