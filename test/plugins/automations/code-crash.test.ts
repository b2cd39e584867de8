import assert from "node:assert/strict";
import { test } from "node:test";
import { CrashWatch, type CrashJournal } from "../../../plugins/automations/code/crash-watch.ts";
import type { ToThread } from "../../../plugins/automations/code/protocol.ts";
import type { StartThread } from "../../../plugins/automations/code/thread.ts";
import { type CodeOptions, DOOR, stageCode, stagedThread } from "./staged-code.ts";

const automation = (name: string, body = "") => `const { when, home, minutes } = require("mantel");
when(home.binarySensor("Front door").opens()).then(async (run) => {
  await run.wait(minutes(5));
  await run.notify("${name}");
  ${body}
});`;
const FILES = { "good.ts": automation("good"), "bad.ts": automation("bad") };
const SET_ASIDE = /^bad\.ts: its code ended the whole process.*until it is saved again$/;

/** A thread of which nothing is heard any more once it has got a message that ends its process. */
function fatal(ends: (message: ToThread, file: (version: number) => string) => boolean): {
  readonly startThread: StartThread;
  readonly ended: () => number;
} {
  let ended = 0;
  const startThread: StartThread = (running, events) => {
    const files = new Map<number, string>();
    let isAlive = true;
    const message: typeof events.message = (sent) => isAlive && events.message(sent);
    const thread = stagedThread().start(running, { ...events, message });
    return {
      ...thread,
      post(sent) {
        if (!isAlive) return;
        if (sent.kind === "load") files.set(sent.version.number, sent.version.file);
        if (ends(sent, (version) => files.get(version) ?? "")) {
          isAlive = false;
          ended += 1;
        } else thread.post(sent);
      },
    };
  };
  return { startThread, ended: () => ended };
}

/** Opens the door, and does not wait for runs: the thread of some has ended. */
async function open({ staged }: Awaited<ReturnType<typeof stage>>): Promise<void> {
  staged.change(DOOR.id, { contact: false });
  await turns();
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
}

/** Files that a process in which the thread ends never has loaded are not waited for. */
const stage = (files: Readonly<Record<string, string>>, options: CodeOptions) =>
  stageCode(files, { loadingMs: 20, ...options });

const runsBad = () =>
  fatal((message, file) => message.kind === "run" && file(message.version) === "bad.ts");

test("code that ends the process again after a crash is set aside; the others continue", async (t) => {
  const { startThread, ended } = runsBad();
  const first = await stage(FILES, { startThread });
  await open(first);
  assert.equal(ended(), 1);

  const second = await first.crash();
  await turns();
  assert.equal(ended(), 2, "the run from before the crash has begun again");

  const third = await second.crash();
  t.after(() => third.code.stop());
  await turns();
  const [broken] = third.code.broken();
  assert.equal(broken?.id, "bad.ts");
  assert.match(broken?.error ?? "", SET_ASIDE);
  assert.equal(third.engine.stateOf("good.ts"), "running");
  await third.staged.advance(5 * 60_000);
  await turns();
  assert.deepEqual(third.staged.messages, ["good"]);
  assert.equal(ended(), 2);
});

test("it stays aside over orderly restarts, until it is saved again", async (t) => {
  const { startThread } = runsBad();
  const first = await stage(FILES, { startThread });
  await open(first);
  const third = await (await first.crash()).crash();
  const fourth = await third.restart();
  t.after(() => fourth.code.stop());
  assert.match(fourth.code.broken()[0]?.error ?? "", SET_ASIDE);

  await fourth.save("bad.ts", automation("mended"));

  assert.deepEqual(fourth.code.broken(), []);
  assert.equal(fourth.engine.tracesOf("bad.ts")[0]?.result, "failed", "the run of the old code");
  await fourth.close();
  await fourth.save("bad.ts", FILES["bad.ts"]);
  assert.deepEqual(fourth.code.broken(), [], "the user has saved the same code again");
});

test("a file whose loading ends the process is not loaded a third time; its last good code is", async (t) => {
  const { startThread, ended } = fatal(
    (message) => message.kind === "load" && message.version.code.includes("fatal"),
  );
  const first = await stage({ "bad.ts": automation("bad") }, { startThread });
  const saved = await first.restart({ "bad.ts": automation("bad", "/* fatal */") });
  assert.equal(ended(), 1);
  const third = await (await saved.crash()).crash();
  t.after(() => third.code.stop());
  await turns();

  assert.equal(ended(), 2);
  assert.match(third.code.problemOf("bad.ts") ?? "", SET_ASIDE);
  assert.equal(third.engine.stateOf("bad.ts"), "idle");
});

test("code that waits when another one ends the process is not to blame", async (t) => {
  const { startThread } = fatal(
    (message, file) => message.kind === "run" && file(message.version) === "a.ts",
  );
  const files = { "a.ts": automation("a"), "b.ts": automation("b"), "c.ts": automation("c") };
  const first = await stage(files, { startThread });
  await open(first);
  const third = await (await first.crash()).crash();
  t.after(() => third.code.stop());
  await turns();

  assert.deepEqual(
    third.code.broken().map(({ id }) => id),
    ["a.ts"],
  );
});

/** A journal that counts what is stored. */
function counting(entries: Iterable<[string, unknown]> = []): CrashJournal & { stored: string[] } {
  const stored: string[] = [];
  const values = new Map(entries);
  return {
    stored,
    get: (key) => values.get(key),
    set(key, value) {
      stored.push(key);
      values.set(key, value);
    },
    delete: (key) => values.delete(key),
    close: async () => undefined,
  };
}

test("after an orderly end nothing is stored of code that runs", async () => {
  const journal = counting();
  await new CrashWatch(journal).close();
  const watch = new CrashWatch(journal);
  assert.equal(watch.isCareful, false);
  watch.begin({ file: "a.ts", key: "1" });
  watch.end();
  assert.deepEqual(journal.stored, ["open", "open"]);
});

test("ten minutes after an unexpected end nothing is stored any more", () => {
  let now = 0;
  const journal = counting([["open", true]]);
  const watch = new CrashWatch(journal, () => now);
  now = 10 * 60_000 - 1;
  watch.begin({ file: "a.ts", key: "1" });
  assert.deepEqual(journal.get("running"), { file: "a.ts", key: "1" });
  now += 1;
  watch.end();
  assert.equal(journal.get("running"), undefined, "what began before is ended");
  watch.begin({ file: "a.ts", key: "1" });
  assert.equal(journal.get("running"), undefined);
});
