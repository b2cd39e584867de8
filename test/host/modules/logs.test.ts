import assert from "node:assert/strict";
import { test } from "node:test";
import { openLog } from "../../../host/log.ts";
import { ModuleLog } from "../../../host/modules/state/logs.ts";
import { until } from "../../helpers/until.ts";

const silent = () => {
  const log = openLog("error", false);
  return { ...log, warn: () => undefined, info: () => undefined };
};

test("records are kept with their time, and the newest 500 of them", () => {
  const log = new ModuleLog(silent());

  for (let count = 0; count < 3; count++) {
    log.record({ level: "info", sentence: "counted", fields: { count } });
  }

  assert.deepEqual(
    log.entries.map(({ level, fields }) => [level, fields]),
    [0, 1, 2].map((count) => ["info", { count }]),
  );
  assert.match(log.entries[0]?.at ?? "", /^\d{4}-\d\d-\d\dT.*Z$/);
});

test("a flood is counted and not kept", () => {
  const log = new ModuleLog(silent());

  for (let count = 0; count < 10_000; count++) log.record({ level: "info", sentence: "again" });

  assert.equal(log.entries.length + log.dropped, 10_000);
  assert.ok(log.entries.length <= 500);
});

test("a flood is reported once, and little of it reaches the host's log", async () => {
  const told: string[] = [];
  const log = new ModuleLog({
    ...silent(),
    warn: (sentence) => told.push(sentence),
    info: (sentence) => told.push(sentence),
  });
  const flood = () => {
    for (let count = 0; count < 1_000; count++) log.record({ level: "info", sentence: "again" });
  };

  const endsAt = performance.now() + 3_100;
  await until(() => (flood(), performance.now() > endsAt), { withinMs: 5_000 });

  const floods = told.filter((sentence) => sentence.includes("too many log records"));
  assert.deepEqual(floods, ["too many log records; dropping most of them"]);
  assert.ok(told.length <= 1 + 200 + 4 * 5, String(told.length));
});

test("a very long sentence is cut", () => {
  const log = new ModuleLog(silent());

  log.record({ level: "info", sentence: "x".repeat(1_000_000) });

  assert.equal(log.entries[0]?.sentence.length, 4_000);
});

test("records are found by their least level and their time", async () => {
  const told: string[] = [];
  const log = new ModuleLog(silent(), ({ sentence }) => told.push(sentence));

  log.record({ level: "debug", sentence: "one" });
  log.record({ level: "warn", sentence: "two" });
  const [, two] = log.entries;
  await until(() => Date.now() > Date.parse(two?.at ?? ""));
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
