import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { openLog } from "../../../host/log.ts";
import { ModuleLog } from "../../../host/modules/state/logs.ts";

const silent = () => {
  const log = openLog("error", false);
  return { ...log, warn: () => undefined, info: () => undefined };
};

/** The monotonic time, which stands still until the test passes some. */
function stopTime(t: TestContext): (ms: number) => void {
  let now = 1_000_000;
  t.mock.method(performance, "now", () => now);
  return (ms) => void (now += ms);
}

test("records are kept with their time, and the newest 500 of them", (t) => {
  const pass = stopTime(t);
  const log = new ModuleLog(silent());

  for (let count = 0; count < 502; count++) {
    if (count % 100 === 0) pass(1_000); // so that they are not a flood
    log.record({ level: "info", sentence: "counted", fields: { count } });
  }

  assert.deepEqual(
    log.entries.map(({ level, fields }) => [level, fields]),
    Array.from({ length: 500 }, (_each, index) => ["info", { count: index + 2 }]),
  );
  assert.match(log.entries[0]?.at ?? "", /^\d{4}-\d\d-\d\dT.*Z$/);
});

test("records beyond 200 in a second are counted and not kept", (t) => {
  const pass = stopTime(t);
  const log = new ModuleLog(silent());
  const record = (times: number) => {
    for (let count = 0; count < times; count++) log.record({ level: "info", sentence: "again" });
  };

  record(200);
  assert.deepEqual([log.entries.length, log.dropped], [200, 0]);
  pass(999);
  record(1);
  assert.deepEqual([log.entries.length, log.dropped], [200, 1]);
});

test("a flood is reported once, and five records of each of its seconds reach the host's log", (t) => {
  const pass = stopTime(t);
  const told: string[] = [];
  const log = new ModuleLog({
    ...silent(),
    warn: (sentence) => told.push(sentence),
    info: (sentence) => told.push(sentence),
  });
  const record = (times: number) => {
    told.length = 0;
    for (let count = 0; count < times; count++) log.record({ level: "info", sentence: "again" });
    pass(1_000);
    return told.length;
  };

  const counts = [200, 201, 1_000, 6, 5, 200].map(record);

  assert.deepEqual(counts, [200, 201, 5, 5, 5, 200]);
  assert.equal(log.dropped, 1 + 995 + 1);
});

test("a flood begins with a warning", (t) => {
  stopTime(t);
  const told: string[] = [];
  const log = new ModuleLog({ ...silent(), warn: (sentence) => told.push(sentence) });

  for (let count = 0; count < 1_000; count++) log.record({ level: "info", sentence: "again" });

  assert.deepEqual(told, ["too many log records; dropping most of them"]);
});

test("records dropped in the plugin's process are counted if their count is a number", () => {
  const log = new ModuleLog(silent());

  for (const dropped of [3, -5, 0.5, "x", undefined] as number[]) {
    log.record({ level: "info", sentence: "again", dropped });
  }

  assert.equal(log.dropped, 3);
});

test("a record with an invalid level or invalid fields is kept at the level info", () => {
  const log = new ModuleLog(silent());

  for (const fields of [null, "text"]) {
    log.record({ level: "loud", sentence: "what", fields } as never);
  }

  assert.deepEqual(
    log.entries.map(({ level, sentence, fields }) => [level, sentence, fields]),
    [1, 2].map(() => ["info", "what", undefined]),
  );
});

test("a fault is an error in both logs, with its location", () => {
  const told: unknown[] = [];
  const log = new ModuleLog({ ...silent(), error: (...record) => told.push(record) });
  const fault = { message: "what", file: "index.ts", line: 3 };

  log.fault("it did not start", fault);

  const [{ level, sentence, fields } = assert.fail()] = log.entries;
  assert.deepEqual([level, sentence, fields], ["error", "it did not start", fault]);
  assert.deepEqual(told, [["it did not start", fault]]);
});

test("a very long sentence is cut", () => {
  const log = new ModuleLog(silent());

  log.record({ level: "info", sentence: "x".repeat(1_000_000) });

  assert.equal(log.entries[0]?.sentence.length, 4_000);
});

test("records are found by their least level and their time", (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.parse("2026-01-01T00:00:00Z") });
  const told: string[] = [];
  const log = new ModuleLog(silent(), ({ sentence }) => told.push(sentence));

  log.record({ level: "debug", sentence: "one" });
  log.record({ level: "warn", sentence: "two" });
  t.mock.timers.tick(1);
  log.record({ level: "warn", sentence: "three" });
  const last = log.entries.at(-1)?.at ?? "";
  const sentences = (query: Parameters<ModuleLog["find"]>[0]) =>
    log.find(query).map(({ sentence }) => sentence);

  assert.deepEqual(sentences({}), ["one", "two", "three"]);
  assert.deepEqual(sentences({ level: "info" }), ["two", "three"]);
  assert.deepEqual(sentences({ level: "error" }), []);
  assert.deepEqual(sentences({ level: "warn", since: last }), ["three"]);
  assert.deepEqual(sentences({ since: last.replace("Z", "+00:00") }), ["three"]);
  assert.deepEqual(told, ["one", "two", "three"]);
});
