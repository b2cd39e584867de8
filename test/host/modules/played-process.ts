import assert from "node:assert/strict";
import programs, { type ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";
import { Duplex, PassThrough } from "node:stream";
import type { TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import {
  PluginProcess,
  type PluginProcessOwner,
  type ProcessSettings,
} from "../../../host/modules/process/plugin-process.ts";
import type { SandboxContents } from "../../../host/modules/process/sandbox/bubblewrap.ts";
import type { CgroupLimits } from "../../../host/modules/process/sandbox/cgroup.ts";
import type { Kernel } from "../../../host/modules/process/sandbox/kernel.ts";
import { showToImports } from "../../helpers/mocked-imports.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { fakeSystemFiles } from "../../helpers/system-files.ts";

export const SETTINGS: ProcessSettings = {
  memoryMiB: 64,
  cpuPercent: 50,
  childProcesses: false,
  folder: "/srv/storage/lamp",
  flags: ["--permission"],
  sandbox: { readable: ["/srv/lamp"], writable: [], hasOpenNetwork: false, hasPrograms: false },
  network: "none",
  hosts: [],
};
export const PID = 70;
export const FIRST = 71;
export const PLUGIN = 72;
/** A call that is not left open is answered within so many turns of the event loop. */
const TURNS = 20;

export interface Line {
  readonly kind: string;
  readonly call?: number;
  readonly [part: string]: unknown;
}

interface Spawned {
  readonly program: string;
  readonly given: readonly string[];
  readonly options: {
    stdio: readonly unknown[];
    env: Record<string, string>;
    [name: string]: unknown;
  };
}

interface Launched {
  readonly command: readonly string[];
  readonly contents: SandboxContents;
  readonly limits: CgroupLimits;
}

interface Options {
  readonly settings?: Partial<ProcessSettings>;
  /** True for a process in a sandbox of bubblewrap, with a control group. */
  readonly isSandboxed?: boolean;
  readonly failure?: Error;
}

/**
 * A process that the test plays: nothing is started, and nothing is killed; the ids are noted, a negative one is a
 * group.
 */
export async function openPlayed(
  t: TestContext,
  { settings, isSandboxed = false, failure }: Options = {},
) {
  const proc = await fakeSystemFiles(t, "/proc", {});
  const killed: (number | "child")[] = [];
  const kill = (id: number | "child") => (signal: unknown) => {
    assert.equal(signal, "SIGKILL");
    killed.push(id);
    return true;
  };
  t.mock.method(process, "kill", (id: number, signal: unknown) => kill(id)(signal));
  const lines: Line[] = [];
  const channel = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _, done) => {
      lines.push(JSON.parse(String(chunk)) as Line);
      done();
    },
  });
  const [output, errors, info] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const state: Pick<ChildProcess, "exitCode" | "signalCode"> & { pid: number | undefined } = {
    pid: PID,
    exitCode: null,
    signalCode: null,
  };
  const child = Object.assign(new EventEmitter(), state, {
    stdio: [null, output, errors, channel, null, info],
    kill: kill("child"),
  });
  const spawned: Spawned[] = [];
  const spawn = t.mock.method(programs, "spawn", ((...[program, given, options]: unknown[]) => {
    spawned.push({ program, given, options } as Spawned);
    if (failure) throw failure;
    return child;
  }) as never);
  showToImports(t, () => spawn.mock.restore());
  const steps: string[] = [];
  const cgroup = { wasOutOfMemory: false, remove: () => void steps.push("group removed") };
  const launches: Launched[] = [];
  const launch = (...[command, contents, limits]: Parameters<Kernel["launch"]>) => {
    launches.push({ command, contents, limits });
    if (!isSandboxed) return undefined;
    const release = () => void steps.push(`released after ${spawned.length} started`);
    return { program: "/bin/sh", arguments: ["-c"], stdio: [9, "pipe"], cgroup, release };
  };
  const fork = (inspectPort?: number) =>
    PluginProcess.fork(
      "/cache/runtime-1/start.cjs",
      { ...SETTINGS, ...settings },
      { launch } as unknown as Kernel,
      inspectPort,
    );
  /** The behaviour of the process. */
  const says = async (message: object) => {
    channel.push(`${JSON.stringify(message)}\n`);
    await setImmediate();
  };
  /** The answer to a call of the process. */
  let calls = 0;
  const calling = async (method: string, input: unknown = {}) => {
    const call = ++calls;
    const answer = () =>
      lines.find((each) => each.call === call && ["answer", "failure"].includes(each.kind));
    await says({ kind: "call", call, method, input });
    for (let turn = 0; turn < TURNS && !answer(); turn++) await setImmediate();
    return answer();
  };
  const ends = (code: number | null, signal: NodeJS.Signals | null = null) => {
    Object.assign(child, { exitCode: code, signalCode: signal });
    child.emit("exit", code, signal);
  };
  const closes = () => void child.emit("close");
  onTestEnd(t, async () => {
    if (child.exitCode === null && child.signalCode === null) ends(0);
    closes();
    for (let turn = 0; turn < 3; turn++) await setImmediate();
  });
  const entersSandbox = async () => {
    info.write(`{"child-pid": ${FIRST}}`);
    proc.write(`${FIRST}/task/${FIRST}/children`, `${PLUGIN} `);
    await setImmediate();
  };
  return {
    fork,
    child,
    channel,
    output,
    errors,
    proc,
    killed,
    lines,
    spawned,
    launches,
    steps,
    cgroup,
    says,
    calling,
    ends,
    closes,
    entersSandbox,
  };
}

/** A module, and what it is asked and told. */
export function moduleThat(answer: (method: string, input: never) => unknown = () => undefined) {
  const printed: string[] = [];
  const names = [
    "publishDevices",
    "updateDevices",
    "announceDeviceEvent",
    "publishScenes",
    "publish",
  ];
  const methods = [
    ...names,
    "publishCalendarPart",
    "callService",
    "reportDegraded",
    "showStep",
    "log",
  ];
  const api = Object.fromEntries(
    methods.map((name) => [name, async (input: never) => answer(name, input)]),
  );
  const owner = {
    api,
    printed: (line: string, level: string) => void printed.push(`${level} ${line}`),
  };
  return { owner: owner as unknown as PluginProcessOwner, printed, methods };
}
