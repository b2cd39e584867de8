import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { appendFile, cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { saveSnapshot } from "../../host/snapshot.ts";
import { pathWithNode, snapshotFor } from "../../scripts/test/host-snapshot.ts";
import { emptyFolder } from "../helpers/folder.ts";
import { startHost } from "../helpers/host.ts";
import { copyOfHost } from "../helpers/repository.ts";
import { until } from "../helpers/until.ts";

const CACHE = "node_modules/.cache/mantel";
const SNAPSHOT = "host.snapshot";

test("the second start makes the snapshot, half a minute later", async (t) => {
  const folder = await copyOfHost(t);
  const first = await startHost(t, { repository: folder, plugins: [] });
  await first.stop();

  await startHost(t, { repository: folder, plugins: [] });

  await until(async () => (await snapshotsIn(folder)).includes(`${SNAPSHOT}.for`), {
    withinMs: 60_000,
  });
  assert.deepEqual(await snapshotsIn(folder), [SNAPSHOT, `${SNAPSHOT}.for`]);
});

test("where the snapshot is", async (t) => {
  const { folder, base, start, snapshots } = await openCopy(t);
  const files = [`${base}.mjs`, ...["", ".for"].map((end) => join(folder, CACHE, SNAPSHOT + end))];
  t.beforeEach(await keeper(folder, files));

  await t.test("a start with a snapshot loads no file of the host", async () => {
    await writeFile(`${base}.mjs`, 'throw new Error("loaded");'); // that a start without the snapshot runs

    const { code, stdout, stderr } = await start();

    assert.match(stdout, /^usage: npm start/);
    assert.deepEqual([code, stderr], [0, ""]);
    assert.deepEqual(await snapshots(), [SNAPSHOT, `${SNAPSHOT}.for`]);
  });

  await t.test("a snapshot that Node cannot use fails one start", async () => {
    await writeFile(join(folder, CACHE, SNAPSHOT), "damaged");

    const first = await start();
    const second = await start();

    assert.notEqual(first.code, 0);
    assert.match(second.stdout, /^usage: npm start/);
    assert.deepEqual([second.code, second.stderr], [0, ""]);
    assert.deepEqual(await snapshots(), [`${SNAPSHOT}.for`]);
  });

  await t.test(
    "a file that a process with the same number left ends the snapshot too",
    async () => {
      const left = `${CACHE}/${SNAPSHOT}.by-`;
      const commands = `printf '' >${left}$$; exec sh host/start.sh --help`;

      const { stdout } = await run("sh", ["-c", commands], {
        cwd: folder,
        env: { PATH: pathWithNode() },
      });

      assert.match(stdout, /^usage: npm start/);
      assert.deepEqual(await snapshots(), [`${SNAPSHOT}.for`]);
    },
  );

  await t.test("a copy of the folder does not use the snapshot of the original", async (inner) => {
    const copy = join(await emptyFolder(inner), "copy");
    await cp(folder, copy, { recursive: true, verbatimSymlinks: true });
    const options = join(copy, "host/options.ts");
    await writeFile(options, (await readFile(options, "utf8")).replace("usage: ", "copied: "));

    const { stdout } = await launch(copy, {});

    assert.match(stdout, /^copied: npm start/);
  });

  await t.test("a snapshot for another Node, or for other flags, is not used", async () => {
    await writeFile(join(folder, CACHE, SNAPSHOT), "damaged"); // which a start that uses it would notice

    const withFlags = await start({ NODE_OPTIONS: "--max-old-space-size=200" });
    await writeFile(join(folder, CACHE, `${SNAPSHOT}.for`), "1 /usr/bin/another\n");
    const withAnother = await start();

    assert.match(withFlags.stdout, /^usage: npm start/);
    assert.match(withAnother.stdout, /^usage: npm start/);
  });
});

test("a start after a change runs the changed sources and ends the snapshot", async (t) => {
  const { start, snapshots, folder } = await openCopy(t);
  const options = join(folder, "host/options.ts");
  await writeFile(options, (await readFile(options, "utf8")).replace("usage: ", "changed: "));

  const { stdout, stderr } = await start();

  assert.match(stdout, /^changed: npm start/);
  assert.equal(stderr, "");
  assert.ok(!(await snapshots()).includes(SNAPSHOT));
});

for (const [what, code] of Object.entries({
  "draws random bytes while it is loaded":
    'import { randomUUID } from "node:crypto";\nexport const ID = randomUUID();',
  "fails while it is loaded": 'throw new Error("on purpose");',
})) {
  test(`of code that ${what} no snapshot is kept`, async (t) => {
    const { snapshots } = await openCopy(t, code);

    assert.deepEqual(await snapshots(), []);
  });
}

/** Keeps files; the returned function brings them back as they were, and removes what is left of a start. */
async function keeper(folder: string, files: readonly string[]): Promise<() => Promise<void>> {
  const kept = await Promise.all(files.map(async (file) => [file, await readFile(file)] as const));
  return async () => {
    for (const name of await snapshotsIn(folder)) await rm(join(folder, CACHE, name));
    for (const [file, bytes] of kept) await writeFile(file, bytes);
  };
}

/** A copy of the host, with `code` in a source, and with its snapshot. */
async function openCopy(t: TestContext, code = "") {
  const folder = await copyOfHost(t);
  await appendFile(join(folder, "host/options.ts"), `\n${code}\n`);
  const start = (environment: NodeJS.ProcessEnv = {}) => launch(folder, environment);
  await start();
  const names = await readdir(join(folder, CACHE));
  const [name = ""] = names.filter((each) => each.endsWith(".mjs"));
  const base = join(folder, CACHE, name.replace(/\.mjs$/, ""));
  await saveSnapshot(base, await snapshotFor(folder));
  return { folder, base, start, snapshots: () => snapshotsIn(folder) };
}

async function snapshotsIn(folder: string): Promise<string[]> {
  const names = await readdir(join(folder, CACHE));
  return names.filter((each) => each.startsWith(SNAPSHOT)).toSorted();
}

const launch = (cwd: string, environment: NodeJS.ProcessEnv): Promise<Ended> =>
  run("sh", ["host/start.sh", "--help"], {
    cwd,
    env: { PATH: pathWithNode(), ...environment },
  });

interface Ended {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

function run(program: string, args: readonly string[], options: object): Promise<Ended> {
  return new Promise((done) => {
    execFile(program, args, options, (failure, stdout, stderr) =>
      done({
        code: failure?.code ?? failure?.signal ?? 0,
        stdout: String(stdout),
        stderr: String(stderr),
      }),
    );
  });
}
