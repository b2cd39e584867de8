import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { finishReplacement } from "../../../../host/documents/restore-transaction.ts";
import { json, type ServedApp, serveApp } from "../serve-app.ts";

const PASSPHRASE = "correct horse battery";
const TOKENS = "tokens.jsonl";

test("a backup waits for the next start, and what has been revoked since stays revoked", async (t) => {
  const served = await serveApp(t);
  const { api, data } = served;
  const backup = await backupOf(served, { passphrase: PASSPHRASE });
  const before = await readFile(join(data, "layout.json"), "utf8");
  await writeFile(join(data, "layout.json"), before.replace('"version"', ' "version"'));
  await served.tokens.issue({ name: "later", scope: ["read"], ttlSeconds: 60 });
  await served.tokens.revoke("later");
  const tokens = await readFile(join(data, TOKENS), "utf8");

  const response = await api("admin", "/restore", json("POST", { backup, passphrase: PASSPHRASE }));
  const whileItRuns = await readFile(join(data, "layout.json"), "utf8");
  await finishReplacement(data);

  assert.equal(response.status, 200);
  const { leftOut } = (await response.json()) as { leftOut: string[] };
  assert.deepEqual(leftOut.toSorted(), ["keys.json", TOKENS]);
  assert.notEqual(whileItRuns, before);
  assert.equal(await readFile(join(data, "layout.json"), "utf8"), before);
  assert.equal(await readFile(join(data, TOKENS), "utf8"), tokens);
});

test("a damaged backup or a wrong passphrase changes nothing", async (t) => {
  const served = await serveApp(t);
  const backup = await backupOf(served, { passphrase: PASSPHRASE });
  const wrong = [
    { backup: Buffer.from("no backup").toString("base64") },
    { backup: "%%%" },
    { backup, passphrase: "another passphrase" },
    { backup, passphrase: "short" },
    { backup, credentials: true },
    {},
  ];

  for (const body of wrong) {
    const response = await served.api("admin", "/restore", json("POST", body));
    assert.equal(response.status, 422);
  }

  assert.equal(await finishReplacement(served.data), undefined);
});

test("a backup is asked for by an object or without a body", async (t) => {
  const { api } = await serveApp(t);
  const withoutBody = await api("admin", "/backup", { method: "POST" });
  const withNull = await api("admin", "/backup", json("POST", null));

  assert.deepEqual([withoutBody.status, withNull.status], [200, 422]);
  await withoutBody.arrayBuffer();
});

test("only an admin can create or restore a backup", async (t) => {
  const { api } = await serveApp(t);

  for (const path of ["/backup", "/restore"]) {
    assert.equal((await api("edit", path, json("POST", {}))).status, 403);
  }
});

async function backupOf({ api }: ServedApp, request: object): Promise<string> {
  const response = await api("admin", "/backup", json("POST", request));
  assert.equal(response.status, 200);
  return Buffer.from(await response.arrayBuffer()).toString("base64");
}
