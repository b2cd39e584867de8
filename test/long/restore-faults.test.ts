import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { brotliDecompressSync } from "node:zlib";
import { MantelError } from "@mantel/plugin-sdk/errors";
import * as fc from "fast-check";
import { finishReplacement } from "../../host/documents/restore-transaction.ts";
import { compileEntry } from "../../host/modules/build/runtime.ts";
import { emptyFolder } from "../helpers/folder.ts";
import { packedText } from "../helpers/forged-backup.ts";
import { readTree } from "../helpers/read-tree.ts";
import { home, KEYS, packedHome, restore } from "../host/backup/restored-home.ts";

const REVOKED = '{"revoked":{"jti":"1","revokedAt":"2026-11-20T09:00:00.000Z"}}';

test("a hundred corrupted backups are refused or restored exactly", async (t) => {
  const { data: source } = await home(t, { "calendars/a.ics": "a", "config.json": "{}" });
  const packed = await packedHome(source);
  const wanted = await readTree(source);
  const { data, outside } = await home(t, { "config.json": '{"ui":{"theme":"dark"}}' });
  const before = await readTree(outside);
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 40 });
  const place = fc.nat({ max: packed.length - 1 });
  const corrupted = fc.oneof(
    fc.tuple(place, fc.integer({ min: 1, max: 255 })).map(([at, xor]) => {
      const copy = Buffer.from(packed);
      copy.writeUInt8(copy.readUInt8(at) ^ xor, at);
      return copy;
    }),
    place.map((at) => packed.subarray(0, at)),
    fc.tuple(place, bytes).map(([at, more]) => {
      return Buffer.concat([packed.subarray(0, at), more, packed.subarray(at)]);
    }),
    fc.tuple(place, fc.nat({ max: 200 })).map(([at, length]) => {
      return Buffer.concat([packed.subarray(0, at), packed.subarray(at + length)]);
    }),
    bytes.map((more) => Buffer.concat([packed, more])),
  );

  let accepted = 0;
  const property = fc.asyncProperty(corrupted, async (file) => {
    if (!(await isAccepted(data, file))) {
      assert.deepEqual(await readTree(outside), before);
      return;
    }
    accepted += 1;
    assert.deepEqual(await withoutKept(data), wanted);
    await assertUntouched(outside, before);
    await resetTo(data, before);
  });
  await examples(t, property, 100);
  t.diagnostic(`${accepted} of them were what they had been`);
});

test("a hundred modified and re-signed backups change only permitted files", async (t) => {
  const { data: source } = await home(t, { "calendars/a.ics": "a", "config.json": "{}" });
  const text = brotliDecompressSync(await packedHome(source)).toString();
  const content = text.replace(/,"sha256":.*$/, "}");
  const { data, outside } = await home(t, { "keys.json": KEYS("here"), "tokens.jsonl": REVOKED });
  const before = await readTree(outside);
  const odd = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.constantFrom(...["../", "\\n/../", ".replacement/plan.json", "tokens.jsonl", "keys.json"]),
    fc.constantFrom(...["{", "}", "[", '"', ",", ":", "null", "__proto__", '"a":"",', "\\ud800"]),
  );
  const place = fc.nat({ max: content.length - 2 });
  const changed = fc.oneof(
    fc.tuple(place, fc.nat({ max: 30 }), odd).map(([at, length, more]) => {
      return content.slice(0, at) + more + content.slice(at + length, -1) + content.slice(-1);
    }),
    odd.map((name) => content.replace("calendars/a.ics", () => name)),
    fc.tuple(odd, odd).map(([a, b]) => content.replace("calendars/a.ics", () => `${a}/${b}`)),
  );

  const property = fc.asyncProperty(changed, async (each) => {
    if (await isAccepted(data, packedText(each))) {
      const { "keys.json": keys, "tokens.jsonl": tokens } = await withoutKept(data);
      assert.deepEqual([keys, tokens], [KEYS("here"), REVOKED]);
      await assertUntouched(outside, before);
      await resetTo(data, before);
    }
    assert.deepEqual(await readTree(outside), before);
  });
  await examples(t, property, 100);
});

test("a restore killed at any moment leaves either the old home or the new one", async (t) => {
  const many = Array.from({ length: 60 }, (_, at) => `calendars/${at}.ics`);
  const { data: source } = await home(t, Object.fromEntries(many.map((path) => [path, "new"])));
  const file = join(source, "../home.backup");
  await writeFile(file, await packedHome(source));
  const next = await readTree(source);
  const entry = resolve(import.meta.dirname, "../helpers/restore-program.ts");
  const program = await compileEntry(await emptyFolder(t), { name: "restore", entry });
  const old = Object.fromEntries(many.map((path) => [path, "old"]));
  const run = async (data: string, killAfterMs?: number) => {
    const child = spawn(process.execPath, [program, data, file], { stdio: "inherit" });
    const ended = once(child, "exit");
    if (killAfterMs !== undefined) {
      const names = async () => (await readdir(data)).some((name) => name.startsWith("."));
      while (child.exitCode === null && !(await names())) await delay(1);
      await delay(killAfterMs);
      child.kill("SIGKILL");
    }
    await ended;
  };
  const whole = await home(t, old);
  const startedAt = performance.now();
  await run(whole.data);
  assert.deepEqual(await withoutKept(whole.data), next);
  const takesMs = performance.now() - startedAt;

  const ends = { old: 0, new: 0 };
  for (let round = 0; round < 12; round++) {
    const { data, outside } = await home(t, old);
    const before = await readTree(data);
    await run(data, (takesMs * round) / 24);
    await finishReplacement(data);

    const isNew = (await readdir(data)).some((name) => name.startsWith("before-restore-"));
    assert.deepEqual(await withoutKept(data), isNew ? next : before);
    ends[isNew ? "new" : "old"] += 1;
    await rm(outside, { recursive: true });
  }
  t.diagnostic(`killed at 12 moments of ${Math.round(takesMs)} ms: ${JSON.stringify(ends)}`);
});

/** True for a backup that was put in place; any refusal has a code. */
async function isAccepted(data: string, packed: Buffer): Promise<boolean> {
  try {
    await restore(data, packed);
    return true;
  } catch (error) {
    assert.ok(error instanceof MantelError, String((error as Error).stack));
    return false;
  }
}

/** The files of a data folder but for those that a restore has set aside. */
async function withoutKept(data: string): Promise<Record<string, string>> {
  const tree = Object.entries(await readTree(data));
  return Object.fromEntries(tree.filter(([path]) => !path.startsWith("before-restore-")));
}

async function assertUntouched(outside: string, before: Record<string, string>): Promise<void> {
  const beside = (tree: Record<string, string>) =>
    Object.entries(tree).filter(([path]) => !path.startsWith("data/"));
  assert.deepEqual(beside(await readTree(outside)), beside(before));
}

async function resetTo(data: string, before: Record<string, string>): Promise<void> {
  await rm(data, { recursive: true });
  for (const [path, text] of Object.entries(before)) {
    if (!path.startsWith("data/")) continue;
    const file = join(data, "..", path);
    await mkdir(join(file, ".."), { recursive: true });
    await writeFile(file, text, "latin1");
  }
}

async function examples(
  t: TestContext,
  property: fc.IAsyncProperty<[unknown]>,
  numRuns: number,
): Promise<void> {
  const seed = Number(process.env["FUZZ_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
  t.diagnostic(`FUZZ_SEED=${seed}`);
  await fc.assert(property, { seed, numRuns });
}
