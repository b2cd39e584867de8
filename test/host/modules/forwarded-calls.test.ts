import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { HostApi } from "@mantel/plugin-sdk/protocol";
import type { Begin, Handlers } from "@mantel/plugin-sdk/rpc";
import { ForwardedCalls } from "../../../host/modules/process/forwarded-calls.ts";

type Method = keyof HostApi;

/**
 * Each call that a process may make. The runtime of the SDK waits for the answers to its questions; a report is sent
 * without a call number, so that nobody would hear of its failure.
 */
const CALLS: Readonly<Record<Method, "question" | "report">> = {
  publishDevices: "question",
  updateDevices: "report",
  announceDeviceEvent: "report",
  publishScenes: "question",
  publish: "question",
  publishCalendarPart: "question",
  publishChannel: "question",
  followChannel: "question",
  followSources: "question",
  describeSources: "question",
  callService: "question",
  routeUrl: "question",
  reportDegraded: "report",
  showStep: "report",
  log: "report",
  setSchedule: "question",
  cancelSchedule: "question",
  resumeSchedules: "report",
  listHomeDevices: "question",
  getHomeDevice: "question",
  followHome: "question",
  unfollowHome: "report",
  suspendHome: "report",
  commandHome: "question",
  activateHomeScene: "question",
  listHomeScenes: "question",
  listHomeRooms: "question",
  getSun: "question",
  getCoordinates: "question",
  listHomeEvents: "question",
  discoverMdns: "question",
  discoverSsdp: "question",
};
const METHODS = Object.keys(CALLS) as Method[];
const QUESTIONS = METHODS.filter((method) => CALLS[method] === "question");
const REPORTS = METHODS.filter((method) => CALLS[method] === "report");

/** The most calls of a kind that run at once. */
const MOST = 200;

const begin: Begin = async () => undefined;

type Answer = (method: Method, ...given: readonly unknown[]) => unknown;

/** A module whose answers the test gives. */
function moduleThat(answer: Answer): Handlers<HostApi> {
  const forward =
    (method: Method) =>
    async (...given: readonly unknown[]) =>
      answer(method, ...given);
  const entries = METHODS.map((method) => [method, forward(method)] as const);
  return Object.fromEntries(entries) as unknown as Handlers<HostApi>;
}

/** The calls of a process, which belongs to a module with these answers; without them it is warm. */
function openCalls(answer?: Answer) {
  let api = answer && moduleThat(answer);
  const serviceAnswers: unknown[][] = [];
  const calls = new ForwardedCalls({
    ownerApi: () => api,
    onServiceAnswer: (...told: unknown[]) => void serviceAnswers.push(told),
  });
  const calling = (method: Method, input: unknown = {}): Promise<unknown> =>
    (calls.handlers[method] as (input: unknown, begin: Begin) => Promise<unknown>)(input, begin);
  const ownedBy = (next: Answer) => void (api = moduleThat(next));
  return { calls, calling, ownedBy, serviceAnswers };
}

/** A process whose module answers a call only when the test lets it end. */
function openRunning() {
  const asked: Method[] = [];
  const ends: ((failure?: Error) => void)[] = [];
  const opened = openCalls((method) => {
    asked.push(method);
    return new Promise<void>((resolve, reject) => {
      ends.push((failure) => (failure ? reject(failure) : resolve()));
    });
  });
  /** Lets calls run that take turns with these methods. Their failures are the test's. */
  const run = (methods: readonly Method[], count: number) => {
    for (let at = 0; at < count; at++) {
      const method = methods[at % methods.length];
      if (method) opened.calling(method).catch(() => undefined);
    }
  };
  const end = async (at: number, failure?: Error) => {
    ends[at]?.(failure);
    await setImmediate();
  };
  return { ...opened, asked, run, end };
}

/** The outcome of a call that should have ended: it is not waited for if it has not. */
function outcomeOf(call: Promise<unknown>): Promise<unknown> {
  return Promise.race([call.catch((error: unknown) => error), setImmediate("it still runs")]);
}

const IS_FULL = new MantelError("module_down", "200 calls are already running");
const HAS_NO_MODULE = new MantelError("module_down", "the process belongs to no module");

test("a process may make every call of the protocol, and not one more", () => {
  const { calls } = openCalls();

  assert.deepEqual(Object.keys(calls.handlers).toSorted(), METHODS.toSorted());
});

test("every call gets to the module with its input and its way to report the beginning, and the answer comes back", async () => {
  const asked: unknown[][] = [];
  const { calling } = openCalls((...call) => (asked.push(call), `${call[0]} is done`));

  for (const method of METHODS)
    assert.equal(await calling(method, { of: method }), `${method} is done`);

  assert.deepEqual(
    asked,
    METHODS.map((method) => [method, { of: method }, begin]),
  );
});

test("a call that fails in the module fails with the module's own error", async () => {
  const failure = new MantelError("device_unknown", "there is no such device");
  const { calling } = openCalls(() => {
    throw failure;
  });

  for (const method of METHODS) {
    await assert.rejects(calling(method), (error) => error === failure, method);
  }
});

test("a process may call nothing before it belongs to a module, and what it tried then leaves all room", async () => {
  const { calls, calling, ownedBy } = openCalls();
  for (let times = 0; times < MOST; times += REPORTS.length) {
    for (const method of METHODS) {
      assert.deepEqual(await outcomeOf(calling(method)), HAS_NO_MODULE, method);
    }
  }

  const asked: Method[] = [];
  ownedBy((method) => {
    asked.push(method);
    return new Promise(() => undefined);
  });
  for (let times = 0; times < MOST; times++) void calling("getSun");

  assert.deepEqual([asked.length, calls.mustWait], [MOST, false]);
});

test("a call with an answer is refused while 200 of them run, and the module does not hear of it", async () => {
  const { calls, calling, asked, run } = openRunning();
  run(QUESTIONS, MOST);

  for (const method of QUESTIONS) {
    assert.deepEqual(await outcomeOf(calling(method)), IS_FULL, method);
  }

  assert.equal(asked.length, MOST);
  assert.equal(calls.mustWait, false, "the host still reads what the process sends");
});

test("a call that has ended makes room for one more, also if it has failed", async () => {
  const { calling, asked, run, end } = openRunning();
  run(["publish"], MOST);

  for (const [at, failure] of [undefined, new Error("wrong")].entries()) {
    await end(at, failure);
    run(["getSun"], 1);
    assert.deepEqual(await outcomeOf(calling("getSun")), IS_FULL);
  }

  assert.deepEqual(asked.slice(MOST), ["getSun", "getSun"]);
});

for (const method of REPORTS) {
  test(`${method} is never refused, because the process would not hear of it; the host reads nothing more instead`, async () => {
    const { calls, asked, calling, run, end } = openRunning();
    run(QUESTIONS, MOST);
    run([method], MOST - 1);
    assert.equal(calls.mustWait, false);

    run([method], 1);
    assert.equal(calls.mustWait, true);
    const oneMore = calling(method); // it was read before
    assert.deepEqual(asked.slice(MOST), Array(MOST + 1).fill(method));

    await end(2 * MOST);
    assert.equal(await outcomeOf(oneMore), undefined);
    assert.equal(calls.mustWait, true, "as many still run");
    await end(MOST, new Error("wrong"));
    assert.equal(calls.mustWait, false, "a failed report makes room, too");
  });
}

test("reports of all kinds together fill the room, and calls with an answer take none of it", async () => {
  const { calls, asked, run, end } = openRunning();
  run(REPORTS, MOST);
  assert.equal(calls.mustWait, true);

  run(QUESTIONS, MOST);
  assert.equal(asked.length, 2 * MOST, "there is room for these");
  await end(MOST);
  assert.equal(calls.mustWait, true);
  await end(0);

  assert.equal(calls.mustWait, false);
});

test("the answer of a service is told with its input before the process gets it", async () => {
  const { calling, serviceAnswers } = openCalls(() => ({ url: "mqtt://192.0.2.7" }));
  const request = { name: "broker.address", input: {} };

  const toldBefore = await calling("callService", request).then(() => [...serviceAnswers]);

  assert.deepEqual(toldBefore, [[request, { url: "mqtt://192.0.2.7" }]]);
});

test("the answers of other calls are not told as those of a service", async () => {
  const { calling, serviceAnswers } = openCalls(() => ({ url: "mqtt://192.0.2.7" }));

  for (const method of METHODS) if (method !== "callService") await calling(method);

  assert.deepEqual(serviceAnswers, []);
});

test("a service that fails has no answer to tell", async () => {
  const failure = new MantelError("not_found", "there is no such service");
  const { calling, serviceAnswers } = openCalls(() => {
    throw failure;
  });

  await assert.rejects(calling("callService", { name: "broker.address" }), failure);

  assert.deepEqual(serviceAnswers, []);
});
