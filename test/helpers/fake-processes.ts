import { createRequire } from "node:module";
import type { HostApi } from "@mantel/plugin-sdk/protocol";
import type { Handlers } from "@mantel/plugin-sdk/rpc";
import type { Exit } from "../../host/modules/process/exit-reason.ts";
import type {
  PluginProcess,
  PluginProcessOwner,
} from "../../host/modules/process/plugin-process.ts";
import type { WarmProcessPool } from "../../host/modules/process/warm-process.ts";
import { run } from "./compiler.ts";

const EXIT: Exit = {
  code: 0,
  signal: null,
  lastLines: [],
  isFlooding: false,
  isOutOfMemory: false,
};
const ANSWERS: Readonly<Record<string, unknown>> = {
  quiesce: { drained: 0, faults: [] },
  findLeaks: [],
  ping: { cpuMicros: 1, heapBytes: 1, loopLagP99Ms: 1 },
};

type Answer = (input: unknown, host: Handlers<HostApi>) => unknown;

/** A process in the test's own process. It runs a bundle, whose exports answer its calls by their names. */
class FakeProcess {
  readonly pid = 0;
  readonly exited: Promise<Exit>;
  readonly calls: string[] = [];
  owner: PluginProcessOwner | undefined;
  isEnded = false;
  /** Ends it as a crash does. */
  crash: (exit?: Partial<Exit>) => void = () => undefined;
  readonly peer: object;
  #exports: Readonly<Record<string, unknown>> = {};

  constructor() {
    this.exited = new Promise((resolve) => {
      this.crash = (exit) => {
        this.isEnded = true;
        resolve({ ...EXIT, ...exit });
      };
    });
    this.peer = {
      call: (method: string, input: unknown) => this.#call(method, input),
      notify: () => undefined,
      close: () => undefined,
    };
  }

  ownedBy(owner: PluginProcessOwner): void {
    this.owner = owner;
  }

  async end(cause: string): Promise<void> {
    this.crash({ ended: { cause, since: performance.now() } });
  }

  async terminate(): Promise<void> {
    this.crash();
  }

  async #call(method: string, input: unknown): Promise<unknown> {
    if (method !== "ping") this.calls.push(method);
    if (method === "load") {
      const { bundle } = input as { bundle: string };
      this.#exports = run(bundle, createRequire(import.meta.url));
    }
    const answer = this.#exports[method] as Answer | undefined;
    const given = await answer?.(input, this.owner?.api as Handlers<HostApi>);
    if (method !== "load") return given ?? ANSWERS[method];
    return { options: undefined, state: undefined, trials: [], ...(given as object | undefined) };
  }
}

/** In the place of a pool: each process is one of this process. `all` has them in the order of their start. */
export function fakeProcesses() {
  const all: FakeProcess[] = [];
  const runtimes: string[] = [];
  const make = (): PluginProcess => {
    const made = new FakeProcess();
    all.push(made);
    return made as unknown as PluginProcess;
  };
  const pool = {
    reloads: 0,
    take: make,
    debuggable: make,
    warm: () => undefined,
    renew: async (runtime: string) => {
      const isNew = runtimes.at(-1) !== runtime;
      if (isNew) runtimes.push(runtime);
      return isNew;
    },
    whileReloading: (reload: () => Promise<unknown>) => reload(),
  };
  return { all, runtimes, pool: pool as unknown as WarmProcessPool };
}
