import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { unpack } from "../../host/backup/archive.ts";
import { finishReplacement } from "../../host/documents/restore-transaction.ts";
import { bomb, forgedBackup, HEAD, packedText } from "../helpers/forged-backup.ts";
import { startHost } from "../helpers/host.ts";
import { processTreeOf } from "../helpers/processes.ts";
import { readTree } from "../helpers/read-tree.ts";
import { LOAD, until } from "../helpers/until.ts";
import { json, type ServedApp, serveApp } from "../host/http/serve-app.ts";

const PASSPHRASE = "correct horse battery";
/** The limit for the unpacked size of a backup. */
const MAX_MIB = 128;
/** The heap of the process, what it unpacks to and Node itself. */
const MAX_PEAK_MIB = 1_000;
/** Parsed in the host, a bomb takes minutes. */
const MAX_HOST_MS = 5_000;

test("a backup that unpacks to too much data is refused early", async () => {
  const tooMany = 128 + 16;
  const bombs = [
    await bomb(tooMany, "["),
    await bomb(tooMany, '{"a":'),
    await bomb(tooMany, "0,", ["[", "0]"]),
    await bomb(tooMany, " "),
    await bomb(tooMany, "A", [`${HEAD},"files":{"a":"`, '"}}']),
    await bomb(tooMany, '"a":"",', [`${HEAD},"files":{`, '"":""}}']),
  ];

  for (const packed of bombs) {
    const before = process.cpuUsage();
    await assert.rejects(unpack(packed, undefined, "a file"), {
      code: "invalid",
      message: /nested more|more than \d+ parts|more than 128 MiB/,
    });
    const { user } = process.cpuUsage(before);
    assert.ok(user < 5_000_000 * LOAD, `it took ${user / 1_000} ms of CPU time`);
  }
});

test("a hostile backup is refused completely by a process that then ends", async (t) => {
  const bombs = await makeBombs(); // first, because tokens of tests end after a minute
  const served = await prepared(t);

  await t.test("a file name with a line break does not forge a log line", async () => {
    const outside = join(served.data, "..", "pwn-of-a-backup.ts");
    for (const name of ["x\n/../../../pwn-of-a-backup.ts", "x\n/../tokens.jsonl"]) {
      const before = await readTree(served.data);

      const { status, text } = await restore(served, forgedBackup([[name, "pwned"]]));

      assert.equal(status, 422);
      assert.match(text, /the file name .* is not allowed/);
      assert.deepEqual(await readTree(served.data), before);
    }
    await assert.rejects(readFile(outside));
  });

  await t.test(
    "no alternative spelling of the register's path restores a revoked token",
    async () => {
      await served.tokens.issue({ name: "tablet", scope: ["admin"], ttlSeconds: 60 });
      const valid = await readFile(join(served.data, "tokens.jsonl"));
      await served.tokens.revoke("tablet");

      for (const name of ["x\n/../tokens.jsonl", "Tokens.jsonl", "tokens.jsonl.last-good"]) {
        await restore(served, forgedBackup([[name, valid]]));
        assert.equal(await finishReplacement(served.data), undefined);
      }

      assert.match(await readFile(join(served.data, "tokens.jsonl"), "utf8"), /revoked/);
    },
  );

  await t.test("a bomb costs limited memory and no time of the host", async (each) => {
    for (const [what, packed] of Object.entries(bombs)) {
      const before = process.cpuUsage();
      const [{ status, text }, peakMiB] = await whilePeaking(restore(served, packed));
      const hostMs = Math.round(process.cpuUsage(before).user / 1_000);

      assert.equal(status, 422, text);
      each.diagnostic(`${what}: ${packed.length} bytes, ${peakMiB} MiB, ${hostMs} ms in the host`);
      assert.ok(peakMiB < MAX_PEAK_MIB, `${what} took ${peakMiB} MiB`);
      assert.ok(hostMs < MAX_HOST_MS, `${what} took ${hostMs} ms of the host's CPU time`);
    }
  });

  await t.test("a body of 16 MiB is not parsed in the host", async () => {
    const body = `{"backup":"${"A".repeat(16 * 2 ** 20 - 100)}"}`;
    const init = { method: "POST", headers: { "content-type": "application/json" }, body };
    const before = process.cpuUsage();

    const response = await served.api("admin", "/restore", init);

    assert.equal(response.status, 422);
    assert.ok(process.cpuUsage(before).user < 2_000_000);
  });

  await t.test(
    "three of many requests are accepted, and the others get a time to retry",
    async () => {
      const asked = Array.from({ length: 8 }, () =>
        served.api("admin", "/backup", json("POST", { passphrase: PASSPHRASE })),
      );
      const answers = await Promise.all(asked);

      const refused = answers.filter(({ status }) => status === 429);
      assert.equal(answers.filter(({ status }) => status === 200).length, 3);
      assert.equal(refused.length, 5);
      for (const { headers } of refused) assert.equal(headers.get("retry-after"), "5");
    },
  );

  await t.test("a client that leaves ends the process, and frees its place", async () => {
    const before = await readTree(served.data);
    const [scope, path] = ["admin", "/restore"] as const;
    const body = { backup: forgedBackup([["a.ics", "1"]]).toString("base64") };

    for (let round = 0; round < 12; round++) {
      const leaving = new AbortController();
      const init = { ...json("POST", body), signal: leaving.signal };
      const asked = served.api(scope, path, init).catch(() => undefined);
      await Promise.race([asked, delay(20 * round)]);
      leaving.abort();
      await asked;
    }

    await until(async () => (await workers()).length === 0);
    await until(
      async () => !(await readdir(served.data)).some((name) => name.startsWith(".replacement-")),
    );
    const response = await served.api("admin", "/backup", json("POST", {}));
    assert.equal(response.status, 200);
    await finishReplacement(served.data);
    assert.deepEqual((await readTree(served.data))["tokens.jsonl"], before["tokens.jsonl"]);
  });
});

test("the compiled host makes a backup of a default home", async (t) => {
  const host = await startHost(t, { plugins: [] });
  await host.token("admin"); // made by a command, which takes its time
  const times: number[] = [];

  for (let round = 0; round < 5; round++) {
    const startedAt = performance.now();
    const response = await host.api("/backup", { method: "POST", json: {} });
    await response.arrayBuffer();
    times.push(Math.round(performance.now() - startedAt));
    assert.equal(response.status, 200);
  }

  t.diagnostic(`${times.join(", ")} ms`);
});

async function makeBombs(): Promise<Record<string, Buffer>> {
  const deep = `{"version":1,"a":${"[".repeat(24 * 2 ** 20)}`;
  const file = [`${HEAD},"version":1,"files":{"layout.json":"`, '"}}'] as const;
  return {
    "brackets without an end": await bomb(MAX_MIB + 32, "["),
    "blanks without an end": await bomb(MAX_MIB + 32, " "),
    "one file without an end": await bomb(MAX_MIB + 32, "A", [...file]),
    "files without an end": await bomb(MAX_MIB, '"a":"",', [`${HEAD},"files":{`, '"":""}}']),
    "a file of 24 MiB that is nested": packedText(file.join(Buffer.from(deep).toString("base64"))),
    "a file of 90 MiB": packedText(file.join("QUFB".repeat(30 * 2 ** 20))),
  };
}

/** The API with the program of the process compiled. */
async function prepared(t: TestContext): Promise<ServedApp> {
  const served = await serveApp(t);
  assert.equal((await served.api("admin", "/backup", json("POST", {}))).status, 200);
  return served;
}

async function restore(served: ServedApp, file: Buffer) {
  const body = json("POST", { backup: file.toString("base64") });
  const response = await served.api("admin", "/restore", body);
  return { status: response.status, text: await response.text() };
}

/** The processes that work on a backup now. */
async function workers(): Promise<number[]> {
  const family = processTreeOf(process.pid).map(({ pid }) => pid);
  const commands = await Promise.all(
    family.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")),
  );
  return family.filter((_, at) => commands[at]?.includes("/cache/backup-"));
}

/** The end of some work, and the most memory that a process of its had, in MiB (`VmHWM` of proc(5)). */
async function whilePeaking<T>(work: Promise<T>): Promise<[T, number]> {
  const state = { isOver: false };
  const over = work.finally(() => (state.isOver = true));
  let peak = 0;
  const watching = (async () => {
    while (!state.isOver) {
      for (const pid of await workers()) {
        const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
        peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
      }
      await delay(50);
    }
  })();
  const [end] = await Promise.all([over, watching]);
  return [end, Math.round(peak / 1024)];
}
