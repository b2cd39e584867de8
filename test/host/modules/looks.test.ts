import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { LOOK_MS, lookRegularly, untilTurnMs } from "../../../host/modules/process/looks.ts";

/** The mocked timers and the mocked clock move on together in steps of this length. */
const STEP_MS = 10;
/** More looks than any test waits for. A mocked timer that rings again at once would ring forever. */
const MOST_LOOKS = 20;

/** Time that is the test's. The clock begins at a turn of each period of a whole number of quarter seconds. */
function openTime(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 10_000;
  const clock = t.mock.method(performance, "now", () => now);
  const setClock = (to: number) => void (now = to);
  const pass = (ms: number) => {
    for (let left = ms; left > 0; left -= STEP_MS) {
      now += Math.min(left, STEP_MS);
      t.mock.timers.tick(Math.min(left, STEP_MS));
    }
  };
  let looks = 0;
  /** Looks until the returned function is called, and at the end of the test if it was not. */
  const look = (each: (turn: number) => void): (() => void) => {
    const stop = lookRegularly((turn) => {
      if (++looks > MOST_LOOKS) throw new Error("time stands still between two turns");
      each(turn);
    });
    t.after(stop);
    return stop;
  };
  return { setClock, pass, look, now: () => now, clockReads: () => clock.mock.callCount() };
}

/** The moments at which the next turns of a period begin, for a clock that shows these moments. */
function nextTurns(t: TestContext, periodMs: number, moments: readonly number[]): number[] {
  const { setClock } = openTime(t);
  return moments.map((now) => {
    setClock(now);
    return now + untilTurnMs(periodMs);
  });
}

test("turns are at the multiples of their period, at whatever time somebody asks for the next one", (t) => {
  const moments = [0, 0.5, 1, 99, 250, 1_000.25, 1_120, 1_200];

  assert.deepEqual(
    nextTurns(t, 250, moments),
    [250, 250, 250, 250, 500, 1_250, 1_250, 1_250],
    "also for one who asks at a turn, or late after one",
  );
});

test("a period that is twice as long has every second turn, so that both wake the host together", (t) => {
  assert.deepEqual(nextTurns(t, 500, [1_000, 1_120, 1_249]), [1_500, 1_500, 1_500]);
});

test("a turn that is less than a tenth of its period away has just been, and the next one follows it", (t) => {
  assert.deepEqual(nextTurns(t, 250, [1_225.5, 1_249, 1_249.75]), [1_500, 1_500, 1_500]);
});

test("a turn that is a tenth of its period away is still to come", (t) => {
  assert.deepEqual(nextTurns(t, 250, [1_224.5, 1_225]), [1_250, 1_250]);
});

test("a process is looked at four times a second from the next turn on", (t) => {
  const { pass, look, now, setClock } = openTime(t);
  const looks: number[] = [];
  setClock(10_100);

  look(() => looks.push(now()));
  pass(1_000);

  assert.equal(LOOK_MS, 250);
  assert.deepEqual(looks, [10_250, 10_500, 10_750, 11_000]);
});

test("a timer that rings before the clock shows its turn does not make this turn begin twice", (t) => {
  const { pass, look, now, setClock } = openTime(t);
  const looks: number[] = [];
  look(() => looks.push(now()));
  setClock(9_999.5); // from now on the timers are half a millisecond early

  pass(251);
  assert.deepEqual(looks, [10_249.5]);
  pass(250);

  assert.equal(looks.length, 2);
});

test("processes that began at different times are looked at together, in turns of which each has its own number", (t) => {
  const { pass, look, now } = openTime(t);
  const looks: { readonly of: string; readonly at: number; readonly turn: number }[] = [];
  const add = (of: string) => look((turn) => looks.push({ of, at: now(), turn }));
  add("lamp");
  pass(100);
  add("door");
  pass(140);
  add("late");

  pass(510);

  assert.deepEqual(
    looks.map(({ of, at }) => `${of} ${at}`),
    [10_250, 10_500, 10_750].flatMap((at) => [`lamp ${at}`, `door ${at}`, `late ${at}`]),
  );
  const turnsAt = (moment: number) => looks.filter(({ at }) => at === moment).map((x) => x.turn);
  for (const at of [10_250, 10_500, 10_750]) assert.equal(new Set(turnsAt(at)).size, 1);
  assert.equal(new Set(looks.map(({ turn }) => turn)).size, 3);
});

test("a turn has another number than those before all processes had ended", (t) => {
  const { pass, look } = openTime(t);
  const turns: number[] = [];
  const stop = look((turn) => turns.push(turn));
  pass(500);
  stop();

  look((turn) => turns.push(turn));
  pass(500);

  assert.equal(new Set(turns).size, 4);
});

test("a process that has ended is not looked at any more, and the others still are", (t) => {
  const { pass, look } = openTime(t);
  const looks: string[] = [];
  const stopLamp = look(() => looks.push("lamp"));
  look(() => looks.push("door"));
  const stopPump = look(() => looks.push("pump"));
  pass(250);

  stopLamp();
  pass(500);
  stopPump();
  stopPump(); // a second time means nothing
  pass(250);

  assert.deepEqual(looks, ["lamp", "door", "pump", "door", "pump", "door", "pump", "door"]);
});

test("the host does not wake up while there is not a process to look at", (t) => {
  const { pass, look, now, clockReads } = openTime(t);
  const looks: number[] = [];
  const stop = look(() => looks.push(now()));
  pass(300);
  const before = clockReads();

  stop();
  pass(10_000);
  assert.equal(clockReads(), before);
  look(() => looks.push(now()));
  pass(450);

  assert.deepEqual(looks, [10_250, 20_500, 20_750], "it wakes up again for the next process");
});

test("a look may be the last one by its own decision, and the host does not wake up for it again", (t) => {
  const { pass, look, clockReads } = openTime(t);
  let looks = 0;
  const stop = look(() => {
    looks++;
    stop();
  });
  pass(250);
  const before = clockReads();

  pass(1_000);

  assert.deepEqual([looks, clockReads()], [1, before]);
});
