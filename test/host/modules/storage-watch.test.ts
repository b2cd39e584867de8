import assert from "node:assert/strict";
import fs, { existsSync, readFileSync } from "node:fs";
import files, { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { PluginProcess } from "../../../host/modules/process/plugin-process.ts";
import { limitStorage, storageFiguresOf } from "../../../host/modules/process/storage-limit.ts";
import { DISK, emptyFolder } from "../../helpers/folder.ts";
import { mockAgain } from "../../helpers/mock-again.ts";
import { showToImports } from "../../helpers/mocked-imports.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { fakeSystemFiles } from "../../helpers/system-files.ts";
import { untilByTurns } from "../../helpers/until.ts";

const BLOCK = 4_096;
const MIB = 2 ** 20;

/**
 * A process with a storage, a folder and a cache of its own, and a limit of 4 MiB. Time and the free space of the disk
 * are the test's. `prlimit` notes its arguments.
 */
async function openStorage(t: TestContext, { storageMiB = 4, pid = 7, fill = 0 } = {}) {
  const home = await emptyFolder(t, DISK);
  const paths = { storage: join(home, "storage"), compiled: join(home, "compiled") };
  const pictures = join(home, "pictures");
  for (const path of [...Object.values(paths), pictures, join(home, "bin")]) await mkdir(path);
  const programs = process.env["PATH"];
  process.env["PATH"] = join(home, "bin");
  onTestEnd(t, async () => void (process.env["PATH"] = programs));
  const log = join(home, "bin/log");
  const script = `#!/bin/sh\necho "$@" >> ${log}\n`;
  await writeFile(join(home, "bin/prlimit"), script, { mode: 0o755 });
  const proc = await fakeSystemFiles(t, "/proc", {});
  const fillTo = (blocks: number, path = join(paths.storage, "file")) =>
    writeFile(path, Buffer.alloc(blocks * BLOCK, 1));
  if (fill > 0) await fillTo(fill);

  const room = { bytes: 2 ** 40, entries: 2 ** 20, isKnown: true };
  const time = { now: 1_000, spentMs: 0 };
  t.mock.timers.enable({ apis: ["setTimeout"] });
  t.mock.method(performance, "now", () => time.now);
  const waits: unknown[] = [];
  const mocked = globalThis.setTimeout;
  // Not a mock of the mock, which Node would leave in place; the reset of the timers ends both.
  globalThis.setTimeout = ((...args: Parameters<typeof mocked>) => {
    waits.push(args[1]);
    return mocked(...args);
  }) as typeof mocked;
  const statfs = t.mock.method(fs, "statfsSync", () => {
    if (!room.isKnown) throw new Error("ENOENT");
    return { bfree: room.bytes, bsize: 1, ffree: room.entries };
  });
  const { opendir } = files;
  let measured = 0;
  const opened = t.mock.method(files, "opendir", (path: string, options: object) => {
    if (path === paths.storage) measured++;
    if (path === paths.storage) time.now += time.spentMs;
    return opendir(path, options);
  });
  showToImports(t, () => {
    statfs.mock.restore();
    opened.mock.restore();
  });

  const told: unknown[][] = [];
  const ends: string[] = [];
  let exit = (): void => undefined;
  const generation = {
    pid,
    settings: { childProcesses: false },
    exited: new Promise<void>((resolve) => (exit = resolve)),
    peer: { notify: (...call: unknown[]) => told.push(call) },
    end: async (cause: string) => void ends.push(cause),
  };
  /** Processes are looked at together, so a first wait may be a little shorter or longer than 250 ms. */
  const LONGEST_WAIT_MS = 275;
  const isWaiting = (looks: number) =>
    waits.filter((ms) => Number(ms) <= LONGEST_WAIT_MS).length >= looks;
  let looks = 1;
  /** Lets the process be looked at after 250 ms, or later. */
  const look = async (afterMs = 250): Promise<void> => {
    looks++;
    time.now += afterMs;
    t.mock.timers.tick(LONGEST_WAIT_MS);
    await untilByTurns(() => isWaiting(looks));
  };
  const subject = generation as unknown as PluginProcess;
  limitStorage(subject, { ...paths, folders: { pictures } }, { storageMiB });
  await untilByTurns(() => isWaiting(1));
  onTestEnd(t, async () => exit());
  const refusals = (): string[] =>
    existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];
  return {
    home,
    paths,
    pictures,
    proc,
    fillTo,
    room,
    time,
    told,
    ends,
    exit,
    generation,
    look,
    refusals,
    figures: () => storageFiguresOf(subject),
    measured: () => measured,
  };
}

const FULL_BLOCKS = (4 * MIB) / BLOCK;
const LIMIT =
  'the limit is 4 MiB and 1024 files; delete what it does not need, or raise "limits.storageMiB"';
const FULL = ["refuseStorage", { reason: `its storage is full: ${LIMIT}` }];
const NOT_FULL = ["refuseStorage", {}];

test("a process without a limit has no figures", () => {
  const unknown = {} as PluginProcess;

  assert.deepEqual(storageFiguresOf(unknown), { storageBytes: null, storageWarning: undefined });
});

test("the storage, the folders and the cache of a process are measured together, without the free part of the cache", async (t) => {
  const { look, fillTo, figures, paths, pictures } = await openStorage(t);
  assert.deepEqual(figures(), { storageBytes: 0, storageWarning: undefined });

  await fillTo(2);
  await fillTo(3, join(pictures, "file"));
  await fillTo(2_000, join(paths.compiled, "file"));
  await look(1_000);

  assert.deepEqual(figures(), { storageBytes: 5 * BLOCK, storageWarning: undefined });
});

test("a cache counts beyond its first 64 MiB", async (t) => {
  const { look, fillTo, figures, paths } = await openStorage(t);
  const { lstat } = files;
  const cached = join(paths.compiled, "file");
  await fillTo(1, cached);
  const mocked = t.mock.method(files, "lstat", async (path: string) =>
    path === cached ? { blocks: (64 * MIB + 3 * BLOCK) / 512 } : lstat(path),
  );
  showToImports(t, () => mocked.mock.restore());

  await look(1_000);

  assert.equal(figures().storageBytes, 3 * BLOCK);
});

test("a deleted file that the process has open counts", async (t) => {
  const { home, look, fillTo, figures, proc } = await openStorage(t);
  const deleted = join(home, "gone (deleted)");
  await fillTo(3, deleted);
  proc.write("7/fd/9", { link: deleted });

  await look(1_000);

  assert.equal(figures().storageBytes, 3 * BLOCK);
});

test("at 80 % of the limit the user is warned, and the process may write", async (t) => {
  const { look, fillTo, figures, told, ends } = await openStorage(t);

  await fillTo(819);
  await look(1_000);
  assert.equal(figures().storageWarning, undefined);
  await fillTo(820);
  await look(1_000);

  assert.equal(figures().storageWarning, `its storage is nearly full: ${LIMIT}`);
  assert.deepEqual([told, ends], [[], []]);
});

test("at the limit the process is told, and the kernel refuses its writes until there is room again", async (t) => {
  const { look, fillTo, figures, told, ends, refusals } = await openStorage(t);

  await fillTo(FULL_BLOCKS - 1);
  await look(1_000);
  assert.deepEqual([told, refusals()], [[], []]);
  await fillTo(FULL_BLOCKS);
  await look(1_000);
  assert.deepEqual(told, [FULL]);
  assert.deepEqual(refusals(), ["--pid 7 --fsize=0:"]);
  assert.equal(figures().storageWarning, `its storage is full, and it cannot write: ${LIMIT}`);

  await fillTo(994); // 97.07 %
  await look(1_000);
  assert.deepEqual([told.length, refusals().length], [1, 1]);
  assert.match(figures().storageWarning ?? "", /is full/);
  await fillTo(993);
  await look(1_000);

  assert.deepEqual(told, [FULL, NOT_FULL]);
  assert.deepEqual(refusals(), ["--pid 7 --fsize=0:", "--pid 7 --fsize=unlimited:"]);
  assert.deepEqual(ends, []);
});

test("many small entries fill the storage too", async (t) => {
  const { paths, look, figures, told, ends } = await openStorage(t, { fill: 1 });
  const make = async (from: number, to: number) => {
    for (let at = from; at < to; at++) await writeFile(join(paths.storage, `${at}`), "");
  };

  await make(1, 819);
  await look(1_000);
  assert.equal(figures().storageWarning, undefined);
  await make(819, 1_023);
  await look(1_000);
  assert.match(figures().storageWarning ?? "", /nearly full/);
  await make(1_023, 1_075);
  await look(1_000);
  assert.deepEqual([told, ends], [[FULL], []]);
  await make(1_075, 1_076);
  await look(1_000);

  assert.deepEqual(ends, [
    'storage limit exceeded: it stored 1076 files and folders of 1024; delete what it does not need, or raise "limits.storageMiB"',
  ]);
});

test("a larger limit allows 64 entries for each MiB", async (t) => {
  const { paths, fillTo, look, figures } = await openStorage(t, { storageMiB: 17 });
  for (let at = 0; at < 869; at++) await writeFile(join(paths.storage, `${at}`), "");
  await look(1_000);
  assert.equal(figures().storageWarning, undefined); // of 1,088

  await fillTo(3_500);
  await look(1_000);

  assert.match(figures().storageWarning ?? "", /the limit is 17 MiB and 1088 files;/);
});

test("counting stops at eight times the allowed entries", async (t) => {
  const { paths, look, fillTo, figures, ends } = await openStorage(t);
  const { opendir } = files;
  const many = Array.from({ length: 9_000 }, (_, at) => ({
    name: `${at}`,
    isDirectory: () => false,
  }));
  const listed = {
    [Symbol.asyncIterator]: async function* () {
      yield* many;
    },
  };
  mockAgain(t, files, "opendir", (async (path: string, options: object) =>
    path === paths.storage ? listed : opendir(path, options)) as never);
  showToImports(t, () => undefined);
  await fillTo(1);

  await look(1_000);

  assert.match(ends[0] ?? "", /it stored 8192 files and folders of 1024/);
  assert.equal(figures().storageBytes, 0);
});

test("a process that exceeds its limit by more than 5 % is killed", async (t) => {
  const { look, fillTo, ends } = await openStorage(t);

  await fillTo(1_075); // 104.98 %
  await look(1_000);
  assert.deepEqual(ends, []);
  await fillTo(1_076);
  await look(1_000);
  await fillTo(1_300);
  await look(1_000);

  const end = (usedMiB: number) =>
    `storage limit exceeded: it used ${usedMiB} MiB of 4 MiB; delete what it does not need, or raise "limits.storageMiB"`;
  assert.deepEqual(ends, [end(4), end(5)]);
});

test("a process that starts above its limit may delete files, and is killed only if it adds more", async (t) => {
  const { look, fillTo, ends, told, refusals } = await openStorage(t, { fill: 2_000 });
  await untilByTurns(() => refusals().length === 1);
  assert.deepEqual([told, ends], [[FULL], []]);

  await fillTo(1_900);
  await look(1_000);
  await fillTo(2_051); // 5 % of the limit more than at its start
  await look(1_000);
  assert.deepEqual(ends, []);
  await fillTo(2_052);
  await look(1_000);

  assert.equal(ends.length, 1);
});

test("writes are refused as soon as the process is known by its id", async (t) => {
  const { look, refusals, generation, told } = await openStorage(t, { pid: 0, fill: 1_024 });
  await look();
  assert.deepEqual([told, refusals()], [[FULL], []]);

  generation.pid = 8;
  await look();
  await look();

  assert.deepEqual(refusals(), ["--pid 8 --fsize=0:"]);
});

test("without prlimit, the process is still told, and killed above its limit", async (t) => {
  const { look, fillTo, told, ends, home } = await openStorage(t);
  await rm(join(home, "bin/prlimit"));

  await fillTo(1_024);
  await look(1_000);
  await fillTo(1_100);
  await look(1_000);

  assert.deepEqual([told, ends.length], [[FULL], 1]);
});

test("folders are measured every second, because measuring is expensive", async (t) => {
  const { look, measured } = await openStorage(t);
  assert.equal(measured(), 1);

  for (let times = 0; times < 3; times++) await look();
  assert.equal(measured(), 1);
  await look();

  assert.equal(measured(), 2);
});

for (const [what, bytes, entries, isMeasured] of [
  ["256 KiB", 262_144, 0, true],
  ["16 entries", 0, 16, true],
  ["less of both", 262_143, 15, false],
  ["nothing, and has more", -(2 ** 30), -1_000, false],
] as const) {
  test(`when the disk has lost ${what}, folders are ${isMeasured ? "" : "not "}measured at the next look`, async (t) => {
    const { look, measured, room } = await openStorage(t);

    room.bytes -= bytes;
    room.entries -= entries;
    await look();
    assert.equal(measured(), isMeasured ? 2 : 1);
    await look();

    assert.equal(measured(), isMeasured ? 2 : 1); // it counts from the last measurement
  });
}

test("when the free space is not known, folders are measured at each look", async (t) => {
  const { look, measured, room } = await openStorage(t);

  room.isKnown = false;
  await look();
  await look();
  assert.equal(measured(), 3);
  room.isKnown = true;
  await look();
  assert.equal(measured(), 4);
  await look();

  assert.equal(measured(), 4);
});

test("measuring takes a third of the time while the disk fills, and a twentieth otherwise", async (t) => {
  const { look, measured, room, time } = await openStorage(t);
  time.spentMs = 200;
  await look(1_000);
  assert.equal(measured(), 2);

  room.bytes -= MIB;
  await look(599);
  assert.equal(measured(), 2);
  await look(1);
  assert.equal(measured(), 3);
  await look(3_999);
  assert.equal(measured(), 3);
  await look(1);

  assert.equal(measured(), 4);
});

test("the folders of an idle process are measured each five seconds, and each second once it runs", async (t) => {
  const { look, measured, proc } = await openStorage(t);
  const ran = (ms: number) =>
    proc.write("7/stat", `7 (x) S 1 7 5 0 -1 0 0 0 0 0 ${ms / 10} 0 0 0 20 0 1\n`);
  ran(100);
  await look(1_000);
  assert.equal(measured(), 2);
  ran(120);
  await look(1_000);
  await look(3_000);
  assert.equal(measured(), 2);
  await look(1_000);
  assert.equal(measured(), 3);

  ran(150);
  await look(999);
  assert.equal(measured(), 3);
  await look(1);

  assert.equal(measured(), 4);
});

test("the folders of a process that may start programs are measured each second, because they may write for it", async (t) => {
  const { look, measured, proc, generation } = await openStorage(t);
  generation.settings.childProcesses = true;
  proc.write("7/stat", "7 (x) S 1 7 5 0 -1 0 0 0 0 0 10 0 0 0 20 0 1\n");
  await look(1_000);
  assert.equal(measured(), 2);

  await look(1_000);

  assert.equal(measured(), 3);
});

test("an idle process is measured at once when the disk has lost space", async (t) => {
  const { look, measured, proc, room } = await openStorage(t);
  proc.write("7/stat", "7 (x) S 1 7 5 0 -1 0 0 0 0 0 10 0 0 0 20 0 1\n");
  await look(1_000);
  assert.equal(measured(), 2);

  room.bytes -= 256 * 1_024;
  await look();

  assert.equal(measured(), 3);
});

test("a process that has ended is not looked at again", async (t) => {
  const { exit, generation, measured, time } = await openStorage(t);

  exit();
  await generation.exited;
  for (let turn = 0; turn < 5; turn++) await setImmediate();
  time.now += 10_000;
  t.mock.timers.tick(10_000);
  for (let turn = 0; turn < 5; turn++) await setImmediate();

  assert.equal(measured(), 1);
});
