import assert from "node:assert/strict";
import { test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { NotBegun, RemoteFault } from "@mantel/plugin-sdk/rpc";
import {
  type Candidate,
  handOver,
  type HandoverDependencies,
  quiesceFailure,
  startCandidate,
} from "../../../host/modules/lifecycle/handover.ts";
import { PauseGate } from "../../../host/modules/lifecycle/pause-gate.ts";
import type { Exit } from "../../../host/modules/process/exit-reason.ts";

const EXIT: Exit = {
  code: 7,
  signal: null,
  lastLines: [],
  isFlooding: false,
  isOutOfMemory: false,
};
const QUIESCED = { state: { count: 1 }, drained: 3, faults: [] };
const fail = (error: Error) => () => {
  throw error;
};

interface Answers {
  readonly connect?: () => unknown;
  readonly start?: (request: unknown) => unknown;
  readonly quiesce?: (request: unknown) => unknown;
}

/** A handover of processes that are none; `steps` tells what happened in order. */
function stage() {
  const steps: string[] = [];
  const warnings: [sentence: string, error: unknown][] = [];
  const gate = new PauseGate(
    "lamp",
    () => 10,
    () => 0,
  );
  const deadlines: Record<string, number> = {};
  const candidate = (name: string, answers: Answers = {}, inspectPort?: number): Candidate => {
    const call = async (method: keyof Answers, input: unknown, deadlineMs: number) => {
      steps.push(`${name} ${method}${gate.isOpen ? "" : " behind the gate"}`);
      deadlines[`${name} ${method}`] = deadlineMs;
      return answers[method]?.(input);
    };
    const terminate = async () => void steps.push(`${name} ends`);
    const generation = { peer: { call }, exited: Promise.resolve(EXIT), terminate, inspectPort };
    names.set(generation, name);
    return {
      generation,
      build: { hash: name, plugin: { manifest: { id: name } } },
      loaded: {},
      request: { config: name },
    } as unknown as Candidate;
  };
  const names = new Map<unknown, string>();
  const parts: HandoverDependencies = {
    gate,
    startMs: 1_500,
    quiesceMs: 2_000,
    allowCallsFrom: ({ generation }) => steps.push(`${names.get(generation)} may call`),
    goLive: ({ build }) => steps.push(`${build.hash} is live`),
    fits: () => true,
    reloadOf: async ({ build }) => candidate(`${build.hash} again`),
    warn: (sentence, error) => warnings.push([sentence, error]),
  };
  return { steps, warnings, deadlines, parts, gate, candidate };
}

test("the new code connects, the old one stops behind the gate, and the new one starts with its state", async () => {
  const { candidate, parts, steps, deadlines, warnings, gate } = stage();
  const old = candidate("old", { quiesce: () => QUIESCED });

  const handover = await handOver(old, candidate("new"), parts);

  assert.deepEqual(steps, [
    "new connect",
    "old quiesce behind the gate",
    "new may call",
    "new start behind the gate",
    "new is live",
  ]);
  assert.deepEqual(handover.live.request, { config: "new", handedOver: { count: 1 } });
  assert.ok(handover.failure === undefined);
  assert.equal(handover.drained, 3);
  assert.ok(handover.downtimeMs >= 0 && handover.downtimeMs < 1_000);
  assert.deepEqual(deadlines, { "new connect": 5_000, "old quiesce": 2_500, "new start": 15_000 });
  assert.deepEqual(warnings, []);
  assert.equal(gate.isOpen, true);
});

test("the downtime counts from the closing of the gate", async (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const { candidate, parts } = stage();
  const old = candidate("old", { quiesce: () => ((now += 20), QUIESCED) });
  const next = candidate("new", { connect: () => (now += 1_000), start: () => (now += 30) });

  const handover = await handOver(old, next, parts);

  assert.ok(handover.failure === undefined);
  assert.equal(handover.downtimeMs, 50);
});

test("the old code is told how long its running calls may take", async () => {
  const { candidate, parts } = stage();
  const requests: unknown[] = [];
  const old = candidate("old", { quiesce: (request) => (requests.push(request), QUIESCED) });

  await handOver(old, candidate("new"), parts);

  assert.deepEqual(requests, [{ deadlineMs: 2_000 }]);
});

test("new code that cannot connect before its start is started all the same", async () => {
  const { candidate, parts, steps, warnings } = stage();
  const error = new Error("no route");
  const old = candidate("old", { quiesce: () => QUIESCED });

  await handOver(old, candidate("new", { connect: fail(error) }), parts);

  assert.equal(steps.at(-1), "new is live");
  assert.deepEqual(warnings, [["the new code could not connect before its start", error]]);
});

test("a start under a debugger takes as long as the developer needs, and connects only then", async () => {
  const { candidate, parts, deadlines } = stage();
  const old = candidate("old", { quiesce: () => QUIESCED });

  await handOver(old, candidate("new", {}, 9229), parts);

  assert.deepEqual(deadlines, { "old quiesce": 2_500, "new start": 36_000_000 });
});

test("a state that does not fit the new code is not handed over", async () => {
  const { candidate, parts } = stage();
  const old = candidate("old", { quiesce: () => QUIESCED });

  const { live } = await handOver(old, candidate("new"), { ...parts, fits: () => false });

  assert.deepEqual(live.request, { config: "new" });
});

test("without a state the schema is not checked", async () => {
  const { candidate, parts } = stage();
  const fits = () => assert.fail("there is no state");

  const { request } = await startCandidate(candidate("new"), undefined, { ...parts, fits });

  assert.deepEqual(request, { config: "new" });
});

test("the old code continues with its state if the new code does not start", async () => {
  const { candidate, parts, steps, gate } = stage();
  const cause = new Error("wrong code");
  const old = candidate("old", { quiesce: () => QUIESCED });

  const handover = await handOver(old, candidate("new", { start: fail(cause) }), parts);

  assert.deepEqual(handover.failure, { cause });
  assert.deepEqual(handover.live.request, { config: "old", handedOver: { count: 1 } });
  assert.deepEqual(steps.slice(2), [
    "new may call",
    "new start behind the gate",
    "old may call",
    "old start behind the gate",
    "old is live",
  ]);
  assert.equal(gate.isOpen, true);
});

test("the old code starts in a new process if its own has ended", async () => {
  const { candidate, parts, steps, warnings } = stage();
  const ended = new Error("it ended");
  const old = candidate("old", { quiesce: () => QUIESCED, start: fail(ended) });

  const handover = await handOver(old, candidate("new", { start: fail(new Error("x")) }), parts);

  assert.equal(handover.live.build.hash, "old again");
  assert.deepEqual(handover.live.request, { config: "old again", handedOver: { count: 1 } });
  assert.deepEqual(steps.slice(-4), [
    "old ends",
    "old again may call",
    "old again start behind the gate",
    "old again is live",
  ]);
  assert.deepEqual(warnings, [
    ["the process of the old generation ended; starting its code in a new one", ended],
  ]);
});

test("the gate opens again when neither code starts", async () => {
  const { candidate, parts, gate } = stage();
  const broken = { quiesce: () => QUIESCED, start: fail(new Error("no")) };
  const reloadOf = async () => candidate("old again", { start: fail(new Error("the last")) });

  const failed = handOver(candidate("old", broken), candidate("new", broken), {
    ...parts,
    reloadOf,
  });

  await assert.rejects(failed, /the last/);
  assert.equal(gate.isOpen, true);
});

test("each kind of failure while stopping the old code has its own warning", async () => {
  const { candidate, parts, warnings } = stage();
  const faults = ["calls", "handOver", "release"].map((step) => ({ step, error: `at ${step}` }));

  await handOver(
    candidate("old", { quiesce: () => ({ drained: 0, faults }) }),
    candidate("new"),
    parts,
  );

  assert.deepEqual(warnings, [
    ["running calls did not end in time; aborting them", "at calls"],
    ["the old code handed over no state; the new code starts without it", "at handOver"],
    ["a release failed", "at release"],
  ]);
});

const INVALID: readonly (readonly [what: string, answer: unknown])[] = [
  ["no answer", undefined],
  ["a negative number of calls", { drained: -1, faults: [] }],
  ["a fraction of a call", { drained: 0.5, faults: [] }],
  ["no faults", { drained: 0 }],
  ["an unknown step", { drained: 0, faults: [{ step: "lunch", error: "" }] }],
  ["no error", { drained: 0, faults: [{ step: "calls" }] }],
  [
    "an error of 100,001 characters",
    { drained: 0, faults: [{ step: "calls", error: "x".repeat(100_001) }] },
  ],
];

for (const [what, answer] of INVALID) {
  test(`an old process that answers with ${what} is killed, and its state is lost`, async () => {
    const { candidate, parts, steps, warnings } = stage();

    const handover = await handOver(
      candidate("old", { quiesce: () => answer }),
      candidate("new"),
      parts,
    );

    assert.deepEqual(handover.live.request, { config: "new" });
    assert.ok(handover.failure === undefined && handover.drained === 0);
    assert.ok(steps.includes("old ends"));
    const [[sentence, error] = []] = warnings;
    assert.equal(sentence, "the old generation did not quiesce; its state is lost");
    assert.match(String(error), /the state that the old generation handed over is invalid/);
  });
}

test("an error of the maximum length is logged in full", async () => {
  const { candidate, parts, warnings } = stage();
  const error = "x".repeat(100_000);

  await handOver(
    candidate("old", { quiesce: () => ({ drained: 0, faults: [{ step: "release", error }] }) }),
    candidate("new"),
    parts,
  );

  assert.deepEqual(warnings, [["a release failed", error]]);
});

const late = new MantelError("deadline_passed", "it was late");
const QUIESCE_FAILURES: readonly (readonly [what: string, error: unknown, told: unknown])[] = [
  [
    "its code threw: the stack",
    new RemoteFault({ name: "TypeError", message: "what", stack: "TypeError: what\n at lamp.ts" }),
    "TypeError: what\n at lamp.ts",
  ],
  ["it ended first: the reason of its end", new NotBegun(), /exited with code 7/],
  [
    "it ended meanwhile: the reason of its end",
    new MantelError("outcome_unknown", "?"),
    /exited with code 7/,
  ],
  ["it was late: that", late, late],
];

for (const [what, error, told] of QUIESCE_FAILURES) {
  test(`the reason why a process did not quiesce, when ${what}`, async () => {
    const { generation } = stage().candidate("old");

    const reason = await quiesceFailure(error, generation);

    if (told instanceof RegExp) assert.match(String(reason), told);
    else assert.equal(reason, told);
  });
}
