import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setImmediate as turn, setTimeout as delay } from "node:timers/promises";
import { withFileLock } from "../../../host/auth/file-lock.ts";
import { emptyFolder } from "../../helpers/folder.ts";

test("work under one lock runs in sequence, and a failure releases the lock", async (t) => {
  const path = join(await emptyFolder(t), "lock");
  let [atWork, most] = [0, 0];

  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, at) =>
      withFileLock(path, async () => {
        most = Math.max(most, ++atWork);
        await turn();
        atWork--;
        if (at % 2 === 0) throw new Error("no");
        return at;
      }),
    ),
  );

  assert.equal(most, 1);
  assert.equal(results.filter(({ status }) => status === "fulfilled").length, 10);
});

for (const [what, leave] of [
  ["a lock left by a crash", (path: string) => writeFile(path, "")],
  [
    "a folder in the place of the lock",
    (path: string) => mkdir(join(path, "in the way"), { recursive: true }),
  ],
] as const) {
  test(`${what} is taken over after five seconds`, async (t) => {
    const path = join(await emptyFolder(t), "lock");
    const clock = startClock(t);
    await leave(path);
    let isTaken = false;

    const taken = withFileLock(path, async () => void (isTaken = true));
    await clock.polls();
    clock.pass(4_999);
    await clock.polls();
    const before = isTaken;
    clock.pass(1);
    await taken;

    assert.deepEqual([before, isTaken], [false, true]);
    assert.equal(existsSync(path), false);
  });
}

test("a lock that others take in turn is never taken over", async (t) => {
  const path = join(await emptyFolder(t), "lock");
  const clock = startClock(t);
  let isTaken = false;
  await writeFile(path, "");
  const taken = withFileLock(path, async () => void (isTaken = true));

  for (let holder = 0; holder < 4; holder++) {
    await clock.polls();
    clock.pass(4_000);
    await clock.polls();
    await writeFile(`${path}.next`, "");
    await rename(`${path}.next`, path);
  }
  const before = isTaken;
  await rm(path);
  await taken;

  assert.deepEqual([before, isTaken], [false, true]);
});

test("locking in a missing folder fails without waiting", async () => {
  await assert.rejects(
    withFileLock("/nowhere/lock", async () => undefined),
    { code: "ENOENT" },
  );
});

/** A monotonic clock that the test moves. `polls` waits until the lock was looked at again. */
function startClock(t: TestContext) {
  const clock = { now: 1_000, looks: 0 };
  t.mock.method(performance, "now", () => {
    clock.looks++;
    return clock.now;
  });
  return {
    pass: (ms: number) => (clock.now += ms),
    async polls() {
      const end = clock.looks + 6;
      while (clock.looks < end) await delay(1);
    },
  };
}
