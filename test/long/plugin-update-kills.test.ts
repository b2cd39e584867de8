import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { PackageLock } from "../../host/packages/lock.ts";
import { collectedLog } from "../helpers/collected-log.ts";
import { fakeNpm } from "../helpers/fake-npm.ts";
import { emptyFolder } from "../helpers/folder.ts";
import { bundledProgram } from "../helpers/script.ts";
import { packageTgz } from "../helpers/tar.ts";

const KILLS = 40;
const FILES = 60;
const PROGRAM = "test/helpers/update-program.ts";

/** An archive each of whose files holds its version. */
const archiveOf = (version: string) =>
  packageTgz({
    "package.json": JSON.stringify({
      name: "mantel-lamp",
      version,
      mantel: { id: "lamp", kinds: ["service"], server: "index.ts" },
    }),
    "index.ts": `// ${version}`,
    ...Object.fromEntries(
      Array.from({ length: FILES }, (_, at) => [`data/${at % 7}/${at}.txt`, version]),
    ),
  });

test(`an update that is killed at any moment leaves the old version or the new one (${KILLS} times)`, async (t) => {
  const home = await emptyFolder(t);
  const [data, archive] = [join(home, "data"), join(home, "lamp.tgz")];
  await mkdir(data);
  await fakeNpm(t, { pack: `cp "${archive}" .` });
  const program = await bundledProgram(PROGRAM);

  /** Runs an update, and kills it `afterMs` after it has begun. Gives the time it took if it was not killed. */
  const update = async (afterMs?: number): Promise<number> => {
    const child = spawn(process.execPath, [program, data, join(home, "lamp")], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = once(child, "exit");
    const [first] = (await once(child.stdout, "data")) as [Buffer];
    assert.equal(first.toString(), "begin\n");
    const beganAt = performance.now();
    if (afterMs !== undefined) {
      await Promise.race([exited, delay(afterMs, undefined, { ref: false })]);
      child.kill("SIGKILL");
    }
    const [code] = (await exited) as [number | null];
    if (afterMs === undefined) assert.equal(code, 0);
    return performance.now() - beganAt;
  };
  const installed = async () => {
    const entry = (await PackageLock.open(data, collectedLog())).find("lamp");
    assert.ok(entry, "the plugin is installed");
    return entry;
  };

  await writeFile(archive, archiveOf("1.0.0"));
  await update();
  await writeFile(archive, archiveOf("1.0.1"));
  const durationMs = await update();
  let isNew = 0;
  let before = "1.0.1";
  for (let at = 0; at < KILLS; at++) {
    const version = `2.0.${at}`;
    await writeFile(archive, archiveOf(version));
    await update((durationMs * 1.1 * at) / KILLS);

    const entry = await installed();
    assert.ok([before, version].includes(entry.version), `${entry.version} after ${before}`);
    const folder = join(data, "packages/lamp", entry.folder);
    const files = (await readdir(folder, { recursive: true })).filter((name) =>
      name.endsWith(".txt"),
    );
    assert.equal(files.length, FILES, `all files of ${entry.version} are there`);
    for (const file of files)
      assert.equal(await readFile(join(folder, file), "utf8"), entry.version);
    if (entry.version === version) isNew++;
    before = entry.version;
  }
  t.diagnostic(
    `${isNew} of ${KILLS} killed updates had taken effect; an update took ${Math.round(durationMs)} ms`,
  );

  await writeFile(archive, archiveOf("3.0.0"));
  await update();

  const { folder, previous, version } = await installed();
  assert.equal(version, "3.0.0");
  assert.deepEqual(await readdir(join(data, "packages")), ["lamp"], "no leftovers of the kills");
  assert.deepEqual(
    (await readdir(join(data, "packages/lamp"))).toSorted((a, b) => a.localeCompare(b)),
    [previous?.folder ?? "", folder].toSorted((a, b) => a.localeCompare(b)),
  );
});
