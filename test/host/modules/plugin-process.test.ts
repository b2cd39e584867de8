import assert from "node:assert/strict";
import programs, { type ChildProcess } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { existsSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { Duplex, PassThrough } from "node:stream";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { MantelError } from "@mantel/plugin-sdk/errors";
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
import { untilByTurns } from "../../helpers/until.ts";

const SETTINGS: ProcessSettings = {
  memoryMiB: 64,
  cpuPercent: 50,
  childProcesses: false,
  folder: "/srv/storage/lamp",
  flags: ["--permission"],
  sandbox: { readable: ["/srv/lamp"], writable: [], hasOpenNetwork: false, hasPrograms: false },
  network: "none",
  hosts: [],
};
const PID = 70;
const FIRST = 71;
const PLUGIN = 72;

interface Line {
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
async function open(t: TestContext, { settings, isSandboxed = false, failure }: Options = {}) {
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
    await says({ kind: "call", call, method, input });
    await setImmediate();
    return lines.find((each) => each.call === call && ["answer", "failure"].includes(each.kind));
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
function moduleThat(answer: (method: string, input: never) => unknown = () => undefined) {
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

/** Sets variables of the environment for the test. */
function setEnvironment(
  t: TestContext,
  variables: Readonly<Record<string, string | undefined>>,
): void {
  for (const [name, value] of Object.entries(variables)) {
    const former = process.env[name];
    const set = (to: string | undefined) => {
      if (to === undefined) delete process.env[name];
      else process.env[name] = to;
    };
    set(value);
    onTestEnd(t, async () => set(former));
  }
}

test("a process runs the runtime in its folder, with its heap and flags, and leads a process group", async (t) => {
  const { fork, spawned } = await open(t);

  const generation = fork(9_229);

  const [{ program, given, options } = assert.fail()] = spawned;
  assert.equal(program, process.execPath);
  const heap = ["--max-old-space-size=64", "--max-semi-space-size=2"];
  assert.deepEqual(given, [...heap, "--permission", "/cache/runtime-1/start.cjs"]);
  assert.deepEqual([options["cwd"], options["detached"]], ["/srv/storage/lamp", true]);
  assert.deepEqual(options.stdio, ["ignore", "pipe", "pipe", "pipe"]);
  assert.deepEqual([generation.pid, generation.inspectPort], [PID, 9_229]);
  assert.deepEqual(generation.settings, SETTINGS);
});

test("the environment of a process has nothing of the host's but its paths, language and time zone", async (t) => {
  const unset = { LC_ALL: undefined, NODE_V8_COVERAGE: undefined };
  setEnvironment(t, { PATH: "/bin", LANG: "de", TZ: "Europe/Berlin", SECRET: "s", ...unset });
  setEnvironment(t, { NODE_EXTRA_CA_CERTS: "/ca.pem", NODE_OPTIONS: "--inspect" });
  const { fork, spawned } = await open(t);

  fork();
  fork();

  const [first = {}, second] = spawned.map(({ options }) => options.env);
  const { MANTEL_GENERATION: mark, ...rest } = first;
  assert.deepEqual(rest, {
    PATH: "/bin",
    LANG: "de",
    TZ: "Europe/Berlin",
    TMPDIR: "/srv/storage/lamp",
    MALLOC_ARENA_MAX: "1",
    MALLOC_MMAP_THRESHOLD_: "131072",
    MALLOC_TRIM_THRESHOLD_: "131072",
  });
  assert.match(mark ?? "", /^[0-9a-f-]{36}$/);
  assert.notEqual(second?.["MANTEL_GENERATION"], mark);
});

test("a process with a network gets the extra certificates, and the time zone of the system if none is set", async (t) => {
  setEnvironment(t, {
    NODE_EXTRA_CA_CERTS: "/ca.pem",
    TZ: undefined,
    LC_ALL: "C",
    NODE_V8_COVERAGE: "/c",
  });
  const { fork, spawned } = await open(t, { settings: { network: "open" } });

  fork();

  const env = spawned[0]?.options.env ?? {};
  const { NODE_EXTRA_CA_CERTS, TZ, LC_ALL, NODE_V8_COVERAGE } = env;
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  assert.deepEqual(
    [NODE_EXTRA_CA_CERTS, TZ, LC_ALL, NODE_V8_COVERAGE],
    ["/ca.pem", timeZone, "C", "/c"],
  );
});

test("a sandboxed process sees its runtime, and its group has room above what the host watches", async (t) => {
  const { fork, spawned, launches, steps } = await open(t, { isSandboxed: true });

  fork();

  const [{ command, contents, limits } = assert.fail()] = launches;
  assert.deepEqual(command.slice(0, 2), [process.execPath, "--max-old-space-size=64"]);
  assert.deepEqual(contents, {
    ...SETTINGS.sandbox,
    readable: ["/srv/lamp", "/cache/runtime-1"],
  });
  assert.deepEqual(limits, {
    memoryBytes: (64 + 128 + 128) * 2 ** 20,
    tasks: 512,
    cpuPercent: 200,
  });
  const [{ program, given, options } = assert.fail()] = spawned;
  assert.deepEqual([program, given], ["/bin/sh", ["-c"]]);
  assert.deepEqual(options.stdio, ["ignore", "pipe", "pipe", "pipe", 9, "pipe"]);
  assert.deepEqual(steps, ["released after 1 started"]);
});

test("a plugin that may use more than two CPUs gets them at a time", async (t) => {
  const { fork, launches } = await open(t, { settings: { cpuPercent: 300 } });

  fork();

  assert.equal(launches[0]?.limits.cpuPercent, 300);
});

test("the id of a sandboxed process is known once it has started", async (t) => {
  const { fork, entersSandbox } = await open(t, { isSandboxed: true });
  const generation = fork();
  assert.equal(generation.pid, 0);

  await entersSandbox();

  assert.equal(generation.pid, PLUGIN);
});

test("a process that cannot be started leaves neither a control group nor a network folder", async (t) => {
  const settings = { network: "proxied", hosts: ["a.example"] } as const;
  const failure = new Error("EAGAIN");
  const { fork, launches, steps } = await open(t, { isSandboxed: true, settings, failure });

  assert.throws(fork, failure);

  assert.deepEqual(steps, ["group removed", "released after 1 started"]);
  const folder = launches[0]?.contents.readable.at(-1) ?? "";
  assert.ok(folder.startsWith(tmpdir()), folder);
  assert.equal(existsSync(folder), false);
});

test("a process that cannot be started without a sandbox fails with the system's error", async (t) => {
  const failure = new Error("EAGAIN");
  const { fork } = await open(t, { failure });

  assert.throws(fork, failure);
});

test("the calls of a process go to its module, with all their input", async (t) => {
  const { fork, calling } = await open(t);
  const asked: unknown[][] = [];
  const { owner, methods } = moduleThat((...call) => (asked.push(call), `${call[0]} is done`));
  fork().ownedBy(owner);

  for (const method of methods)
    assert.equal((await calling(method, { of: method }))?.["value"], `${method} is done`);

  assert.deepEqual(
    asked,
    methods.map((method) => [method, { of: method }]),
  );
});

const errorOf = (line: Line | undefined) => line?.["error"] as { code: string; message: string };

test("a warm process may call nothing, because it belongs to no module", async (t) => {
  const { fork, calling } = await open(t);
  fork();

  const { code, message } = errorOf(await calling("log"));

  assert.deepEqual([code, message], ["module_down", "the process belongs to no module"]);
});

test("a process has at most 200 calls at once, and an ended one makes room", async (t) => {
  const { fork, calling, lines } = await open(t);
  const settle: ((fails: boolean) => void)[] = [];
  const running = () =>
    new Promise<void>((resolve, reject) => {
      settle.push((fails) => (fails ? reject(new Error("wrong")) : resolve()));
    });
  fork().ownedBy(moduleThat(running).owner);
  for (let times = 0; times < 200; times++) await calling("publish");
  assert.deepEqual([settle.length, lines.filter(({ kind }) => kind === "failure")], [200, []]);

  const { code, message } = errorOf(await calling("publish"));
  assert.deepEqual([code, message], ["module_down", "200 calls are already running"]);
  settle[0]?.(true);
  settle[1]?.(false);
  await setImmediate();
  for (let times = 0; times < 3; times++) await calling("publish");

  assert.equal(settle.length, 202);
});

test("reports that nobody answers are never refused: the 201st is read when an earlier one has ended", async (t) => {
  const { fork, says, calling, lines } = await open(t);
  const taken: number[] = [];
  const settle: (() => void)[] = [];
  const report = ({ number }: { number: number }) => {
    taken.push(number);
    return new Promise<void>((resolve) => settle.push(resolve));
  };
  const answer = (method: string, input: never) => (method === "log" ? report(input) : "done");
  const forked = fork();
  forked.ownedBy(moduleThat(answer).owner);

  for (let number = 1; number <= 203; number++) {
    await says({ kind: "call", method: "log", input: { number } });
  }
  assert.deepEqual([taken.length, forked.hasUnread, forked.isFlooding], [200, true, false]);
  settle[7]?.();
  await untilByTurns(() => taken.length === 201);
  await setImmediate();
  assert.deepEqual(taken.slice(-2), [200, 201]);
  settle[0]?.();
  settle[1]?.();
  await untilByTurns(() => taken.length === 203);

  assert.equal(await calling("publish"), undefined, "what follows waits too");
  settle[2]?.();
  await untilByTurns(() => lines.some(({ value }) => value === "done"));
  assert.deepEqual(taken.slice(-2), [202, 203]);
});

test("a process whose network does not go through the host cannot ask it to connect", async (t) => {
  const { fork, calling } = await open(t);
  fork().ownedBy(moduleThat().owner);

  for (const method of ["lookUp", "openConnection", "closeConnection"]) {
    const { code, message } = errorOf(await calling(method));
    assert.equal(code, "invalid");
    assert.equal(message, "the network of this process does not go through the host");
  }
});

/** A process whose network goes through the host, and the folder of its network. */
async function openProxied(t: TestContext, hosts: readonly string[]) {
  const opened = await open(t, { isSandboxed: true, settings: { network: "proxied", hosts } });
  const generation = opened.fork();
  const folder = opened.launches[0]?.contents.readable.at(-1) ?? "";
  return { ...opened, generation, folder };
}

test("a process with declared hosts connects through the host, by sockets that its sandbox shows", async (t) => {
  const { generation, calling, folder, ends, closes } = await openProxied(t, ["a.example"]);
  assert.ok(existsSync(folder));

  const answer = await calling("lookUp", { host: "b.example", family: 0 });
  const refusal = { reached: "b.example", toDeclare: "b.example" };
  assert.deepEqual(answer?.["value"], { refusal });
  ends(0);
  closes();
  await generation.exited;

  assert.equal(existsSync(folder), false);
});

const outcomeOf = (line: Line | undefined) => Object.keys(Object(line?.["value"]))[0];
const IS_ALLOWED = { host: "192.0.2.7", family: 0 };

test("the hosts in the answer of a declared service may be connected to", async (t) => {
  const { generation, calling } = await openProxied(t, ["service:broker.address"]);
  generation.ownedBy(moduleThat(() => ({ url: "mqtt://192.0.2.7" })).owner);
  await calling("publish", { name: "broker.address" });
  assert.equal(outcomeOf(await calling("lookUp", IS_ALLOWED)), "refusal");

  await calling("callService", { name: "broker.address" });

  assert.equal(outcomeOf(await calling("lookUp", IS_ALLOWED)), "found");
});

test("the hosts in the options of a process may be connected to", async (t) => {
  const { generation, calling } = await openProxied(t, ["config:url"]);

  void generation.peer
    .call("start", { config: { url: "http://192.0.2.7" } } as never, 1_000)
    .catch(String);

  assert.equal(outcomeOf(await calling("lookUp", IS_ALLOWED)), "found");
});

test("a connection that the remote end broke is reported to the process", async (t) => {
  const { calling, lines } = await openProxied(t, ["127.0.0.1"]);
  const server = createServer((socket) => void setTimeout(() => socket.resetAndDestroy(), 1));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestEnd(t, async () => void server.close());
  const { port } = server.address() as AddressInfo;
  const request = { connection: 3, host: "127.0.0.1", port, family: 0 };
  void calling("openConnection", request);
  const path = await untilByTurns(
    () => lines.find(({ kind }) => kind === "answer")?.["value"] as { opened: { path: string } },
  );

  const near = connect(path.opened.path);
  near.on("error", () => undefined);
  onTestEnd(t, async () => void near.destroy());
  await once(near, "connect");
  const lost = await untilByTurns(() => lines.find(({ method }) => method === "connectionLost"));

  const { connection, failure } = lost["input"] as {
    connection: number;
    failure: { code: string };
  };
  assert.deepEqual([connection, failure.code], [3, "ECONNRESET"]);
});

test("the lines that a process prints go to its module, errors as warnings", async (t) => {
  const { fork, output, errors } = await open(t);
  const { owner, printed } = moduleThat();
  const generation = fork();
  output.write("too early\n");
  await setImmediate();

  generation.ownedBy(owner);
  output.write("hello\n");
  errors.write("careful\n");
  await setImmediate();

  assert.deepEqual(printed, ["info hello", "warn careful"]);
});

for (const [what, stream, text, expected] of [
  ["sends", "channel", '{"kind":"begun","call":1}\n', [true, true, false]],
  ["prints", "output", "x\n", [false, false, true]],
  ["prints errors", "errors", "x\n", [false, false, true]],
] as const) {
  test(`a process that ${what} more than the host reads is known to`, async (t) => {
    const opened = await open(t);
    const generation = opened.fork();
    const state = () => [generation.isFlooding, generation.hasUnread, generation.isPrinting];
    assert.deepEqual(state(), [false, false, false]);

    opened[stream].push(text.repeat(100_000));

    await untilByTurns(() => (isDeepStrictEqual(state(), expected) ? true : undefined));
  });
}

test("a process that writes an invalid message is killed, with that as its cause", async (t) => {
  const { fork, channel, killed, ends, closes } = await open(t);
  const generation = fork();

  channel.push("no JSON\n");
  await setImmediate();
  assert.deepEqual(killed, ["child", -PID]);
  ends(null, "SIGKILL");
  closes();

  const { ended } = await generation.exited;
  assert.equal(ended?.cause, "it wrote an invalid message to the host's channel");
});

test("the exit of a process has its code, its last words, and nothing that it did not do", async (t) => {
  const { fork, ends, closes, errors } = await open(t);
  const generation = fork();
  errors.write("TypeError: late\n    at a.ts:1\nunfin");

  ends(1);
  errors.write("ished");
  closes();

  assert.deepEqual(await generation.exited, {
    code: 1,
    signal: null,
    lastLines: ["TypeError: late", "    at a.ts:1"],
    isFlooding: false,
    isOutOfMemory: false,
  });
});

test("the exit of a process that was ended has the first cause, and when the fault began", async (t) => {
  t.mock.method(performance, "now", () => 5_000);
  const { fork, ends, closes, killed } = await open(t);
  const generation = fork();

  const ended = [generation.end("it hangs", 4_000), generation.end("it was told to")];
  assert.deepEqual(killed, ["child", -PID, "child", -PID]);
  ends(null, "SIGKILL");
  closes();
  await Promise.all(ended);

  const { ended: how, signal } = await generation.exited;
  assert.deepEqual([how, signal], [{ cause: "it hangs", since: 4_000 }, "SIGKILL"]);
});

test("a fault without a time began when the process was ended", async (t) => {
  t.mock.method(performance, "now", () => 5_000);
  const { fork, ends, closes } = await open(t);
  const generation = fork();

  void generation.end("it was told to");
  ends(null, "SIGKILL");
  closes();

  assert.deepEqual((await generation.exited).ended, { cause: "it was told to", since: 5_000 });
});

for (const [code, signal] of [
  [0, null],
  [null, "SIGTERM"],
] as const) {
  test(`a process that has ended by ${signal ?? code} is not killed again: its id may be another one's`, async (t) => {
    const { fork, ends, closes, killed } = await open(t);
    const generation = fork();
    ends(code, signal);
    closes();
    await generation.exited;
    killed.length = 0;

    await generation.terminate();

    assert.deepEqual(killed, []);
  });
}

test("terminating waits until the process has ended", async (t) => {
  const { fork, ends, closes } = await open(t);
  const generation = fork();
  const steps: string[] = [];

  const terminated = generation.terminate().then(() => steps.push("terminated"));
  await setImmediate();
  ends(null, "SIGKILL");
  await setImmediate();
  assert.deepEqual(steps, []);
  closes();
  await terminated;

  assert.deepEqual(steps, ["terminated"]);
});

test("a sandboxed process is killed with everything in its sandbox", async (t) => {
  const { fork, entersSandbox, killed, ends, closes, steps, cgroup } = await open(t, {
    isSandboxed: true,
    settings: { childProcesses: true },
  });
  const generation = fork();
  await entersSandbox();

  const ended = generation.terminate();
  assert.deepEqual(killed, [FIRST]);
  cgroup.wasOutOfMemory = true;
  ends(137);
  closes();
  await ended;

  assert.deepEqual(killed, [FIRST]);
  const { code, signal, isOutOfMemory } = await generation.exited;
  assert.deepEqual([code, signal, isOutOfMemory], [null, "SIGKILL", true]);
  assert.equal(steps.at(-1), "group removed");
});

for (const [isSandboxed, code, signal, expected] of [
  [true, 134, null, [null, "SIGABRT"]],
  [true, 1, null, [1, null]],
  [true, null, "SIGKILL", [null, "SIGKILL"]],
  [false, 137, null, [137, null]],
] as const) {
  const where = isSandboxed ? "in" : "without";
  test(`${where} a sandbox, the end of bubblewrap or Node by ${signal ?? code} is ${expected.join(" ")}`, async (t) => {
    const { fork, ends, closes } = await open(t, { isSandboxed });
    const generation = fork();

    ends(code, signal);
    closes();

    const exit = await generation.exited;
    assert.deepEqual([exit.code, exit.signal], expected);
  });
}

for (const childProcesses of [true, false]) {
  test(`the group of a process ends with it, and programs outside ${childProcesses ? "too" : "are not searched if it may start none"}`, async (t) => {
    const { fork, ends, closes, killed, proc, spawned } = await open(t, {
      settings: { childProcesses },
    });
    const generation = fork();
    const mark = spawned[0]?.options.env["MANTEL_GENERATION"];
    proc.write("90/environ", `MANTEL_GENERATION=${mark}\0`);
    proc.write("91/environ", "MANTEL_GENERATION=another\0");

    ends(0);
    assert.deepEqual(killed.slice(0, 2), childProcesses ? [-PID, 90] : [-PID]);
    closes();
    await generation.exited;

    assert.ok(!killed.includes(91));
  });
}

test("pipes that detached programs hold open are closed half a second after the end", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { fork, ends, closes, output, errors, channel } = await open(t);
  const generation = fork();

  ends(0);
  t.mock.timers.tick(499);
  assert.equal(output.destroyed, false);
  t.mock.timers.tick(1);
  assert.deepEqual(
    [output, errors, channel].map(({ destroyed }) => destroyed),
    [true, true, true],
  );
  closes();

  assert.equal((await generation.exited).code, 0);
});

test("pipes that close by themselves are left alone", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { fork, ends, closes, output } = await open(t);
  const generation = fork();

  ends(0);
  closes();
  await generation.exited;
  t.mock.timers.tick(10_000);

  assert.equal(output.destroyed, false);
});

test("a program that does not exist ends the process without code and signal", async (t) => {
  const { fork, child } = await open(t);
  child.pid = undefined;
  const generation = fork();
  assert.equal(generation.pid, 0);

  child.emit("error", new Error("ENOENT"));

  const { code, signal } = await generation.exited;
  assert.deepEqual([code, signal], [null, null]);
});

test("a call that a process had begun when it ended has an unknown outcome, and later ones did not begin", async (t) => {
  const { fork, says, ends, closes } = await open(t);
  const generation = fork();
  const call = generation.peer.call("ping", {}, 60_000).catch((error: unknown) => error);
  await says({ kind: "begun", call: 1 });

  ends(0);
  closes();

  const error = await call;
  assert.ok(error instanceof MantelError);
  assert.equal(error.code, "outcome_unknown");
  assert.equal(
    error.message,
    "the process ended before it answered; the outcome of this call is unknown",
  );
  await assert.rejects(generation.peer.call("ping", {}, 60_000), { code: "module_down" });
});

test("messages that a process sent before it ended are received before its exit", async (t) => {
  const { fork, channel, ends, closes } = await open(t);
  const heard: unknown[] = [];
  const generation = fork();
  generation.ownedBy(moduleThat((_, input) => heard.push(input)).owner);
  channel.push('{"kind":"begun","call":9}\n'.repeat(20_000));
  channel.push('{"kind":"call","method":"log","input":"last words"}\n');
  await setImmediate();

  ends(1);
  closes();
  await generation.exited;

  assert.deepEqual(heard, ["last words"]);
});
