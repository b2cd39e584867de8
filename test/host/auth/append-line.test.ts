import assert from "node:assert/strict";
import { appendFile, open, readFile, stat } from "node:fs/promises";
import { devNull } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { appendLine } from "../../../host/auth/append-line.ts";
import { emptyFolder } from "../../helpers/folder.ts";

test("each record is a line of its own, also after one that was cut off", async (t) => {
  const path = join(await emptyFolder(t), "records");

  await appendLine(path, { n: 1 });
  await appendLine(path, { n: 2 });

  assert.equal(await readFile(path, "utf8"), '\n{"n":1}\n\n{"n":2}\n');
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});

test("a full disk is reported as such", { skip: process.platform !== "linux" }, async () => {
  await assert.rejects(appendLine("/dev/full", { n: 1 }), {
    code: "disk_full",
    message: "the disk is full; full was not changed",
  });
});

test("a record that only partly fits on the disk is refused and leaves no truncated line", async (t) => {
  const path = join(await emptyFolder(t), "records");
  await appendLine(path, { n: 1 });
  await fillDiskDuringNextWrite(t, 5);

  await assert.rejects(appendLine(path, { n: 2 }), {
    code: "disk_full",
    status: 507,
    message: "the disk is full; records was not changed",
  });

  assert.deepEqual(await linesOf(path), ['{"n":1}']);
  await appendLine(path, { n: 3 });
  assert.deepEqual(await linesOf(path), ['{"n":1}', '{"n":3}']);
});

test("a record of another process after a refused one stays", async (t) => {
  const path = join(await emptyFolder(t), "records");
  await appendLine(path, { n: 1 });
  await fillDiskDuringNextWrite(t, 5, () => appendFile(path, '\n{"n":4}\n'));

  await assert.rejects(appendLine(path, { n: 2 }), { code: "disk_full" });

  assert.deepEqual(await linesOf(path), ['{"n":1}', '{"n":4}']);
});

test("any other failure is the file system's error", async () => {
  await assert.rejects(appendLine("/nowhere/records", {}), { code: "ENOENT" });
});

/** Writes only the first bytes of the next write, as a file system with little space does, and then calls `afterwards`. */
async function fillDiskDuringNextWrite(
  t: TestContext,
  bytes: number,
  afterwards = async (): Promise<void> => undefined,
): Promise<void> {
  const file = await open(devNull, "w");
  const handles = Object.getPrototypeOf(file) as typeof file;
  await file.close();
  async function writePart(this: typeof file, content: string | Buffer) {
    const buffer = Buffer.from(content);
    const { bytesWritten } = await this.writev([buffer.subarray(0, bytes)]);
    await afterwards();
    return { bytesWritten, buffer };
  }
  t.mock.method(handles, "write", writePart as typeof handles.write, { times: 1 });
}

async function linesOf(path: string): Promise<string[]> {
  return (await readFile(path, "utf8")).split("\n").filter(Boolean);
}
