import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { untilByTurns } from "../../helpers/until.ts";
import { openPlayed, moduleThat, SETTINGS, PID, FIRST, PLUGIN } from "./played-process.ts";

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
  const { fork, spawned } = await openPlayed(t);

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
  setEnvironment(t, {
    PATH: "/bin",
    LANG: "de",
    TZ: "Europe/Berlin",
    SECRET: "s",
    LC_ALL: undefined,
    NODE_V8_COVERAGE: "/c",
  });
  setEnvironment(t, { NODE_EXTRA_CA_CERTS: "/ca.pem", NODE_OPTIONS: "--inspect" });
  const { fork, spawned } = await openPlayed(t);

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
  });
  const { fork, spawned } = await openPlayed(t, { settings: { network: "open" } });

  fork();

  const env = spawned[0]?.options.env ?? {};
  const { NODE_EXTRA_CA_CERTS, TZ, LC_ALL } = env;
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  assert.deepEqual([NODE_EXTRA_CA_CERTS, TZ, LC_ALL], ["/ca.pem", timeZone, "C"]);
});

test("a sandboxed process sees its runtime, and its group has room above what the host watches", async (t) => {
  const { fork, spawned, launches, steps } = await openPlayed(t, { isSandboxed: true });

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
  const { fork, launches } = await openPlayed(t, { settings: { cpuPercent: 300 } });

  fork();

  assert.equal(launches[0]?.limits.cpuPercent, 300);
});

test("the id of a sandboxed process is known once it has started", async (t) => {
  const { fork, entersSandbox } = await openPlayed(t, { isSandboxed: true });
  const generation = fork();
  assert.equal(generation.pid, 0);

  await entersSandbox();

  assert.equal(generation.pid, PLUGIN);
});

test("a process that cannot be started leaves neither a control group nor a network folder", async (t) => {
  const settings = { network: "proxied", hosts: ["a.example"] } as const;
  const failure = new Error("EAGAIN");
  const { fork, launches, steps } = await openPlayed(t, { isSandboxed: true, settings, failure });

  assert.throws(fork, failure);

  assert.deepEqual(steps, ["group removed", "released after 1 started"]);
  const folder = launches[0]?.contents.readable.at(-1) ?? "";
  assert.ok(folder.startsWith(tmpdir()), folder);
  assert.equal(existsSync(folder), false);
});

test("a process that cannot be started without a sandbox fails with the system's error", async (t) => {
  const failure = new Error("EAGAIN");
  const { fork } = await openPlayed(t, { failure });

  assert.throws(fork, failure);
});

test("the lines that a process prints go to its module, errors as warnings", async (t) => {
  const { fork, output, errors } = await openPlayed(t);
  const { owner, printed } = moduleThat();
  const generation = fork();
  output.write("too early\n");
  await setImmediate();

  generation.ownedBy(owner);
  output.write("hello\n");
  errors.write("careful\n");
  await untilByTurns(() => printed.length >= 2);

  assert.deepEqual(printed, ["info hello", "warn careful"]);
});

for (const [what, stream, text, expected] of [
  ["sends", "channel", '{"kind":"begun","call":1}\n', [true, true, false]],
  ["prints", "output", "x\n", [false, false, true]],
  ["prints errors", "errors", "x\n", [false, false, true]],
] as const) {
  test(`a process that ${what} more than the host reads is known to`, async (t) => {
    const opened = await openPlayed(t);
    const generation = opened.fork();
    const state = () => [generation.isFlooding, generation.hasUnread, generation.isPrinting];
    assert.deepEqual(state(), [false, false, false]);

    opened[stream].push(text.repeat(100_000));

    await untilByTurns(() => (isDeepStrictEqual(state(), expected) ? true : undefined));
  });
}

test("a process that writes an invalid message is killed, with that as its cause", async (t) => {
  const { fork, channel, killed, ends, closes } = await openPlayed(t);
  const generation = fork();

  channel.push("no JSON\n");
  await untilByTurns(() => killed.length >= 2);
  assert.deepEqual(killed, ["child", -PID]);
  ends(null, "SIGKILL");
  closes();

  const { ended } = await generation.exited;
  assert.equal(ended?.cause, "it wrote an invalid message to the host's channel");
});

test("the exit of a process has its code, its last words, and nothing that it did not do", async (t) => {
  const { fork, ends, closes, errors } = await openPlayed(t);
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
  const { fork, ends, closes, killed } = await openPlayed(t);
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
  const { fork, ends, closes } = await openPlayed(t);
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
    const { fork, ends, closes, killed } = await openPlayed(t);
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
  const { fork, ends, closes } = await openPlayed(t);
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
  const { fork, entersSandbox, killed, ends, closes, steps, cgroup } = await openPlayed(t, {
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
    const { fork, ends, closes } = await openPlayed(t, { isSandboxed });
    const generation = fork();

    ends(code, signal);
    closes();

    const exit = await generation.exited;
    assert.deepEqual([exit.code, exit.signal], expected);
  });
}

for (const childProcesses of [true, false]) {
  test(`the group of a process ends with it, and programs outside ${childProcesses ? "too" : "are not searched if it may start none"}`, async (t) => {
    const { fork, ends, closes, killed, proc, spawned } = await openPlayed(t, {
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
  const { fork, ends, closes, output, errors, channel } = await openPlayed(t);
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
  const { fork, ends, closes, output } = await openPlayed(t);
  const generation = fork();

  ends(0);
  closes();
  await generation.exited;
  t.mock.timers.tick(10_000);

  assert.equal(output.destroyed, false);
});

test("a program that does not exist ends the process without code and signal", async (t) => {
  const { fork, child } = await openPlayed(t);
  child.pid = undefined;
  const generation = fork();
  assert.equal(generation.pid, 0);

  child.emit("error", new Error("ENOENT"));

  const { code, signal } = await generation.exited;
  assert.deepEqual([code, signal], [null, null]);
});

test("a call that a process had begun when it ended has an unknown outcome, and later ones did not begin", async (t) => {
  const { fork, says, ends, closes } = await openPlayed(t);
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
  const { fork, channel, ends, closes } = await openPlayed(t);
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
