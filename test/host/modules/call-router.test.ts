import assert from "node:assert/strict";
import { test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { NotBegun, RemoteFault } from "@mantel/plugin-sdk/rpc";
import { CallRouter } from "../../../host/modules/lifecycle/call-router.ts";
import type { Live } from "../../../host/modules/lifecycle/handover.ts";

type Answer = (input: unknown, leftMs: number, method: string) => unknown;

/** A process that answers calls without being one. */
function processThat(answer: Answer): Live {
  const call = async (method: string, input: unknown, leftMs: number) =>
    answer(input, leftMs, method);
  return { generation: { peer: { call } } } as unknown as Live;
}

function openRouter(queueLength = 10) {
  const parts: { live: Live | undefined } = { live: undefined };
  const faults: RemoteFault[] = [];
  const router = new CallRouter("lamp", {
    live: () => parts.live,
    queueLength: () => queueLength,
    waitedForCpuMs: () => 0,
    onWait: () => undefined,
    onFault: (fault) => faults.push(fault),
  });
  return { router, parts, faults };
}

const COMMAND = { nativeId: "1", command: {}, commandId: "c" };
const lost = () => new MantelError("outcome_unknown", "the process ended");

test("a call goes to the live process with its deadline", async (t) => {
  t.mock.method(performance, "now", () => 0);
  const { router, parts } = openRouter();
  const calls: unknown[] = [];
  parts.live = processThat((input, leftMs, method) => {
    calls.push([method, input, leftMs]);
    return "done";
  });

  const answer = await router.call("command", COMMAND, 1_000);

  assert.equal(answer, "done");
  assert.deepEqual(calls, [["command", COMMAND, 1_000]]);
  assert.deepEqual(router.counts, { calls: 1, errors: 0, drops: 0 });
});

test("the process gets the deadline in whole milliseconds, and at least one", async (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const { router, parts } = openRouter();
  const lefts: number[] = [];
  parts.live = processThat((_input, leftMs) => lefts.push(leftMs));
  router.gate.close();

  const calls = [router.call("command", COMMAND, 10.5), router.call("command", COMMAND, 2)];
  now = 2;
  router.gate.open();
  await Promise.all(calls);

  assert.deepEqual(lefts, [9, 1]);
});

test("a call without a process is refused with a time to retry, and counts as dropped", async () => {
  const { router } = openRouter();

  await assert.rejects(router.call("command", COMMAND, 1_000), {
    code: "module_down",
    message: "the module is not running",
    extras: { retryAfterMs: 1_000 },
  });

  assert.deepEqual(router.counts, { calls: 0, errors: 0, drops: 1 });
});

test("calls beyond the queue length are refused until one has ended", async () => {
  const { router, parts } = openRouter(2);
  const ends: (() => void)[] = [];
  parts.live = processThat(() => new Promise<void>((end) => ends.push(end)));
  const running = [1, 2].map(() => router.call("command", COMMAND, 1_000));

  await assert.rejects(router.call("command", COMMAND, 1_000), {
    code: "module_down",
    message: "2 calls are already running",
    extras: { retryAfterMs: 1_000 },
  });
  for (const end of ends.splice(0)) end();
  await Promise.all(running);
  const next = router.call("command", COMMAND, 1_000);
  await new Promise(setImmediate);
  for (const end of ends) end();
  await next;

  assert.deepEqual(router.counts, { calls: 3, errors: 0, drops: 1 });
});

test("calls wait at the closed gate and then go to the process that runs", async () => {
  const { router, parts } = openRouter();
  router.gate.close();

  const waiting = router.call("command", COMMAND, 1_000);
  parts.live = processThat(() => "by the next");
  router.gate.open();

  assert.equal(await waiting, "by the next");
});

test("a call waits at the gate no longer than its deadline", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { router } = openRouter();
  router.gate.close();

  const refused = assert.rejects(router.call("command", COMMAND, 40), {
    code: "module_down",
    message: /lamp did not come back within (40|39) ms/,
  });
  t.mock.timers.tick(40);
  await refused;

  assert.equal(router.counts.drops, 1);
});

const checks = (isRepeatable: boolean) => ({
  before: () => undefined,
  after: (answer: unknown) => answer,
  told: (error: unknown) => error,
  isRepeatable,
});
const CHECKS = {
  command: undefined,
  "read-only service": checks(true),
  "other service": checks(false),
};

const REPEATS: readonly (readonly [
  what: string,
  kind: keyof typeof CHECKS,
  error: () => Error,
  isRepeated: boolean,
])[] = [
  ["that had not begun", "command", () => new NotBegun(), true],
  ["with an unknown outcome", "command", lost, false],
  ["with an unknown outcome", "read-only service", lost, true],
  ["with an unknown outcome", "other service", lost, false],
  [
    "that was late",
    "read-only service",
    () => new MantelError("deadline_passed", "it was late"),
    false,
  ],
];

for (const [what, kind, error, isRepeated] of REPEATS) {
  const outcome = isRepeated ? "is repeated in the next process" : "is not repeated";
  test(`a ${kind} call ${what} in the process before ${outcome}`, async () => {
    const { router, parts, faults } = openRouter();
    parts.live = processThat(() => {
      parts.live = processThat(() => "by the next");
      throw error();
    });

    const call = router.call("callService", { name: "demo.x", input: {} }, 1_000, CHECKS[kind]);

    if (isRepeated) assert.equal(await call, "by the next");
    else await assert.rejects(call, { message: error().message });
    const counts = { calls: isRepeated ? 2 : 1, errors: isRepeated ? 0 : 1, drops: 0 };
    assert.deepEqual(router.counts, counts);
    assert.deepEqual(faults, []);
  });
}

test("a call that had not begun when its process crashed waits for the next process", async () => {
  const { router, parts } = openRouter();
  parts.live = processThat(() => {
    parts.live = undefined;
    router.gate.close();
    throw new NotBegun();
  });
  const call = router.call("command", COMMAND, 1_000);
  await new Promise(setImmediate);

  parts.live = processThat(() => "by the next");
  router.gate.open();

  assert.equal(await call, "by the next");
});

test("a call that fails in the process that still runs is not repeated", async () => {
  const { router, parts } = openRouter();
  parts.live = processThat(() => {
    throw new NotBegun();
  });

  await assert.rejects(router.call("command", COMMAND, 1_000), /ended before the call began/);

  assert.deepEqual(router.counts, { calls: 1, errors: 1, drops: 0 });
});

test("an error in the plugin's code reaches the caller and is reported once", async () => {
  const { router, parts, faults } = openRouter();
  const fault = new RemoteFault({ name: "TypeError", message: "what", stack: "at lamp.ts:1" });
  parts.live = processThat(() => {
    throw fault;
  });

  await assert.rejects(router.call("command", COMMAND, 1_000), fault);

  assert.deepEqual(faults, [fault]);
});
