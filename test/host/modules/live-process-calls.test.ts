import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { defineService } from "@mantel/plugin-sdk";
import { Type } from "typebox";
import { failing, HOME, stage } from "./staged-process.ts";

const HEADLINES = defineService("acme.news.headlines", {
  input: Type.Object({ count: Type.Integer() }),
  output: Type.Array(Type.String()),
  deadlineMs: 2_000,
});
const KEY = "acme.news.headlines";
const CALL = { key: KEY, input: { count: 1 }, chain: ["acme.day"] };
const PROVIDES = { provides: ["acme.news.headlines"] };

test("a service of the live process is called with its chain, within the limit of its definition", async (t) => {
  const { live, build, answers, calls, deadlineOf } = await stage(t);
  answers["one"] = {
    start: () => ({ services: [HEADLINES], routes: [] }),
    callService: () => ["Rain"],
  };
  await live.start(build("one", undefined, PROVIDES));

  assert.deepEqual([...live.services.keys()], [KEY]);
  assert.deepEqual(await live.callService(CALL), ["Rain"]);
  assert.deepEqual(calls.at(-1)?.input, { name: KEY, input: CALL.input, chain: CALL.chain });
  assert.equal(deadlineOf("callService"), 2_000);
  await live.callService({ ...CALL, deadlineMs: 500 });
  assert.equal(deadlineOf("callService"), 500);
});

test("wrong input never reaches a service, and its wrong answer is in the log of its module", async (t) => {
  const { live, build, answers, steps, warnings } = await stage(t);
  answers["one"] = {
    start: () => ({ services: [HEADLINES], routes: [] }),
    callService: () => "Rain",
  };
  await live.start(build("one", undefined, PROVIDES));
  steps.length = 0;

  await assert.rejects(live.callService({ ...CALL, input: {} }), { code: "invalid" });
  await assert.rejects(live.callService({ ...CALL, key: "acme.none" }), {
    code: "service_unavailable",
  });
  assert.deepEqual([steps, warnings], [[], []]);
  await assert.rejects(live.callService(CALL), { code: "service_unavailable" });
  assert.equal(warnings[0]?.[0], "a service gave a wrong answer");
});

test("services of code that has stopped stay known, its routes do not", async (t) => {
  const { live, build, answers } = await stage(t);
  const route = { method: "GET", path: "/news", summary: "The news", scope: "read" };
  answers["one"] = { start: () => ({ services: [HEADLINES], routes: [route] }) };
  assert.deepEqual([live.services.size, live.routes], [0, []]);
  await live.start(build("one", undefined, PROVIDES));
  assert.deepEqual([live.services.size, live.routes.length], [1, 1]);

  await live.stop();

  assert.deepEqual([live.services.size, live.routes], [1, []]);
});

test("a route is answered by the live process, with files of its folders", async (t) => {
  const { live, build, answers, calls, folder } = await stage(t);
  await writeFile(join(folder, "note.txt"), "Milk");
  answers["one"] = { answerRoute: () => ({ file: join(folder, "note.txt") }) };
  await live.start(build("one"));
  const input = { params: {}, query: {}, body: undefined, contentType: "", headers: {} };
  const definition = { method: "GET", path: "/notes", summary: "Notes", scope: "read" } as const;

  const { file } = await live.answerRoute(definition, { ...input, route: "GET /notes" });

  assert.equal(await file?.handle.readFile("utf8"), "Milk");
  await file?.handle.close();
  assert.deepEqual(calls.at(-1)?.input, { ...input, route: "GET /notes" });
});

test("the process hears of the home's settings, and its next start has them", async (t) => {
  const { live, build, answers, calls, ui } = await stage(t);
  answers["one"] = { settingsChanged: () => ({ isFollowed: true }) };
  await live.start(build("one"));
  ui["locale"] = "de-DE";

  assert.equal(await live.followSettings(), true);
  assert.deepEqual(calls.at(-1)?.input, { ...HOME, locale: "de-DE" });
  answers["two"] = { start: failing("wrong code") };
  await assert.rejects(live.replace(build("two")));

  const back = calls.findLast(({ method, name }) => method === "start" && name === "one");
  const { home } = (back?.input ?? {}) as { home?: unknown };
  assert.deepEqual(home, { ...HOME, locale: "de-DE" });
});

test("a process that does not follow the settings, or does not answer, has to be reloaded", async (t) => {
  const { live, build, answers } = await stage(t);
  answers["one"] = { settingsChanged: () => ({ isFollowed: false }) };
  await live.start(build("one"));
  assert.equal(await live.followSettings(), false);
  answers["one"] = { settingsChanged: failing("it hangs") };
  assert.equal(await live.followSettings(), false);
});

test("without a process there is nothing to reload for settings", async (t) => {
  const { live, build, answers, exit } = await stage(t);
  assert.equal(await live.followSettings(), true);
  answers["one"] = {
    settingsChanged: async () => {
      await exit("one");
      throw new Error("the process ended");
    },
  };
  await live.start(build("one"));
  assert.equal(await live.followSettings(), true);
});

test("changed settings end a rest", async (t) => {
  const { live, build, needs } = await stage(t);
  await live.start(build("one"));
  await live.rest();
  await setImmediate();
  assert.deepEqual(needs, []);
  assert.equal(await live.followSettings(), true);
  assert.equal(needs.length, 1);
});
