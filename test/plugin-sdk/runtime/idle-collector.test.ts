import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import vm from "node:vm";
import {
  collectGarbage,
  type CollectedProcess,
  IdleCollector,
} from "@mantel/plugin-sdk/idle-collector";

const MIB = 2 ** 20;
const SAMPLE_MS = 5_000;

test("a process that has been idle for ten seconds is collected twice, and then not again", () => {
  const { sample, collectedAt } = idleProcess({ heapMiB: 40, leftMiB: 20 });

  sample(24);

  assert.deepEqual(collectedAt(), [10, 15]);
});

test("a process that uses the CPU is collected once it has become idle", () => {
  const { sample, collectedAt, use } = idleProcess({ heapMiB: 40, leftMiB: 20 });

  use({ cpuPercent: 20 });
  sample(4);
  use({ cpuPercent: 5 });
  sample(4);

  assert.deepEqual(collectedAt(), [30, 35]);
});

test("a process with work under way is not collected, even if it uses no CPU time", () => {
  const { sample, collectedAt, use } = idleProcess({ heapMiB: 40, leftMiB: 20 });

  use({ isWorking: true });
  sample(10);

  assert.deepEqual(collectedAt(), []);
});

test("work between the two collections puts both off until the heap has grown by a quarter", () => {
  const { sample, collectedAt, use } = idleProcess({ heapMiB: 40, leftMiB: 20 });

  sample(2);
  use({ isWorking: true });
  sample(1);
  use({ isWorking: false, heapMiB: 24.9 });
  sample(20);
  use({ heapMiB: 25.1 });
  sample(2);

  assert.deepEqual(collectedAt(), [10, 120, 125]);
});

test("a growing heap is collected at most once a minute", () => {
  const { sample, collectedAt, use } = idleProcess({ heapMiB: 40, leftMiB: 20 });

  for (let at = 0; at < 16; at++) {
    use({ heapMiB: 40 });
    sample(1);
  }

  assert.deepEqual(collectedAt(), [10, 15, 75, 80]);
});

test("a heap that would take too long, or has little to give back, is not collected", () => {
  const large = idleProcess({ heapMiB: 81, leftMiB: 70 });
  const small = idleProcess({ heapMiB: 4, leftMiB: 3 });

  large.sample(10);
  small.sample(10);

  assert.deepEqual([large.collectedAt(), small.collectedAt()], [[], []]);
});

test("after a collection of more than 50 ms the next one waits two minutes, then four", () => {
  const { sample, collectedAt, use } = idleProcess({ heapMiB: 40, leftMiB: 20, pauseMs: 51 });

  for (let at = 0; at < 80; at++) {
    use({ heapMiB: 40 });
    sample(1);
  }

  assert.deepEqual(collectedAt(), [10, 130, 370]);
});

test("the timer samples every five seconds until it is stopped", (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const { collector, collectedAt, use } = idleProcess({ heapMiB: 40, leftMiB: 20 });
  const pass = (samples: number) => {
    for (let at = 0; at < samples; at++) {
      use({ seconds: SAMPLE_MS / 1_000 });
      t.mock.timers.tick(SAMPLE_MS);
    }
  };

  const stop = collector.start();
  pass(2);
  stop();
  pass(10);

  assert.deepEqual(collectedAt(), [10]);
});

test("this process itself is collected, and a new context has no function for it", async (t) => {
  const unreachable = createUnreachable();
  await nextTurn();

  passIdleTime(t);
  collectGarbage();

  assert.equal(unreachable.deref(), undefined);
  assert.equal(vm.runInNewContext("typeof gc"), "undefined");
});

/** Samples the process that runs the tests, which has work under way. */
function passIdleTime(t: TestContext): void {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const stop = new IdleCollector(() => true).start();
  t.mock.timers.tick(SAMPLE_MS);
  stop();
}

function createUnreachable(): WeakRef<object> {
  return new WeakRef({ name: "garbage" });
}

interface Use {
  readonly cpuPercent: number;
  readonly isWorking: boolean;
  readonly heapMiB: number;
  /** Time that passes. */
  readonly seconds: number;
}

/** A process on a clock of its own. A collection leaves `leftMiB` of its heap. */
function idleProcess({ heapMiB = 0, leftMiB = 0, pauseMs = 40 }) {
  let seconds = 0;
  let paused = 0;
  let cpuMicros = 0;
  let state = { cpuPercent: 5, isWorking: false, heapMiB };
  const collections: number[] = [];
  const collected: CollectedProcess = {
    now: () => seconds * 1_000 + paused,
    cpuMicros: () => cpuMicros,
    heapBytes: () => state.heapMiB * MIB,
    collect() {
      collections.push(seconds);
      paused = pauseMs;
      state = { ...state, heapMiB: leftMiB };
    },
  };
  const collector = new IdleCollector(() => state.isWorking, collected);
  const use = ({ seconds: passed = 0, ...changed }: Partial<Use>): void => {
    state = { ...state, ...changed };
    seconds += passed;
    paused = passed > 0 ? 0 : paused;
    cpuMicros += passed * state.cpuPercent * 10_000;
  };
  const sample = (count: number): void => {
    for (let at = 0; at < count; at++) {
      use({ seconds: SAMPLE_MS / 1_000 });
      collector.sample();
    }
  };
  return { collector, use, sample, collectedAt: () => collections };
}
