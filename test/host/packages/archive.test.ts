import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { ARCHIVE_LIMITS, readArchive } from "../../../host/packages/archive.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { type TarEntry, tarGz } from "../../helpers/tar.ts";

async function read(t: TestContext, bytes: Buffer, limits: Partial<typeof ARCHIVE_LIMITS> = {}) {
  const file = join(await emptyFolder(t), "package.tgz");
  await writeFile(file, bytes);
  return readArchive(file, { ...ARCHIVE_LIMITS, ...limits });
}
const file = (path: string, content = "x"): TarEntry => ({ path, content });
const refusal = (message: RegExp) => ({ code: "install_failed", message });

test("the files of an archive are given by their path below its top folder", async (t) => {
  const files = await read(
    t,
    tarGz([
      { path: "package/", type: 5 },
      file("package/index.ts", "code"),
      { ...file("package/bin/run", "#!"), mode: 0o755 },
      file("package/empty", ""),
    ]),
  );

  assert.deepEqual(
    [...files].map(([path, { bytes, isExecutable }]) => [path, bytes.toString(), isExecutable]),
    [
      ["index.ts", "code", false],
      ["bin/run", "#!", true],
      ["empty", "", false],
    ],
  );
});

for (const [what, entry, message] of [
  [
    "a path with ..",
    file("package/../../evil"),
    /"package\/\.\.\/\.\.\/evil" leads out of the folder/,
  ],
  ["an absolute path", file("/etc/cron.d/evil"), /is an absolute path/],
  ["a path of another system", file("C:/evil"), /is an absolute path/],
  [
    "a symbolic link",
    { path: "package/a", type: 2, link: "/etc/passwd" },
    /is not a file or folder but a link/,
  ],
  ["a hard link", { path: "package/a", type: 1, link: "/etc/passwd" }, /but a hard link/],
  ["a device file", { path: "package/a", type: 3 }, /but a device file/],
  ["a named pipe", { path: "package/a", type: 6 }, /but a named pipe/],
  ["a file beside the top folder", file("evil"), /is outside its top folder/],
  ["a path with an empty part", file("package//evil"), /is not a plain path/],
  [
    "a path with a backslash",
    file("package/..\\evil"),
    /has a character that file names must not have/,
  ],
  ["a path with a line break", file("package/a\nb"), /has a character/],
  ["a path with a name that is too long", file(`package/${"a".repeat(91)}`), /is too long/],
  ["a path that is too deep", file(`package/${"a/".repeat(20)}b`), /is more than 10 folders deep/],
] as const) {
  test(`an archive with ${what} is refused`, async (t) => {
    const limits = { depth: 10, segmentBytes: 90 } as unknown as Partial<typeof ARCHIVE_LIMITS>;
    const reading = read(t, tarGz([file("package/package.json"), entry]), limits);

    await assert.rejects(reading, refusal(message));
  });
}

test("names that are the same on some file systems are refused", async (t) => {
  const twice = tarGz([file("package/Readme"), file("package/README")]);
  const both = tarGz([file("package/a"), file("package/A/b")]);

  await assert.rejects(read(t, twice), refusal(/contains "package\/README" twice/));
  await assert.rejects(read(t, both), refusal(/"A" is both a file and a folder/));
});

test("an archive is bounded in its size, packed and unpacked, and in its files", async (t) => {
  const limits = (most: object) => most as Partial<typeof ARCHIVE_LIMITS>;
  const large = tarGz([file("package/a", "x".repeat(3 * 2 ** 20))]);
  const claims = tarGz([{ path: "package/a", size: 9 * 2 ** 20 }]);
  const many = tarGz(Array.from({ length: 12 }, (_, at) => file(`package/${at}`)));

  const unpackedBytes = 2 ** 20;
  await assert.rejects(read(t, large, limits({ unpackedBytes })), refusal(/more than 1 MiB/));
  await assert.rejects(read(t, claims, limits({ unpackedBytes })), refusal(/more than 1 MiB/));
  await assert.rejects(read(t, large, limits({ packedBytes: 100 })), refusal(/larger than 0 MiB/));
  await assert.rejects(read(t, many, limits({ files: 10 })), refusal(/more than 10 files/));
});

test("an archive that only unpacks to nothing is bounded too", async (t) => {
  const zeros = gzipSync(Buffer.alloc(64 * 2 ** 20));
  const limits = { unpackedBytes: 2 ** 20, files: 10 } as unknown as Partial<typeof ARCHIVE_LIMITS>;

  await assert.rejects(read(t, zeros, limits), refusal(/more than 1 MiB/));
});

for (const [what, bytes, message] of [
  ["no archive", Buffer.from("<html>"), /is damaged/],
  ["a cut archive", tarGz([file("package/a", "x".repeat(10_000))]).subarray(0, 60), /is damaged/],
  ["a text in gzip", gzipSync("hello ".repeat(200)), /is damaged/],
  ["an archive in an archive", gzipSync(tarGz([file("package/a")])), /is compressed twice/],
] as const) {
  test(`${what} is refused`, async (t) => {
    await assert.rejects(read(t, bytes), refusal(message));
  });
}
