import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
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

test("a lock left by a crash is taken over after five seconds", async (t) => {
  const path = join(await emptyFolder(t), "lock");
  await writeFile(path, "");
  const startedAt = performance.now();

  const done = await withFileLock(path, async () => "done");

  assert.equal(done, "done");
  assert.ok(performance.now() - startedAt >= 5_000);
});

test("locking in a missing folder fails without waiting", async () => {
  await assert.rejects(
    withFileLock("/nowhere/lock", async () => undefined),
    { code: "ENOENT" },
  );
});
