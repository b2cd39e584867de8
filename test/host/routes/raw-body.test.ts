import assert from "node:assert/strict";
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { test } from "node:test";
import { sendWithBody } from "../../../host/routes/raw-body.ts";
import { emptyFolder } from "../../helpers/folder.ts";

const REQUEST = {
  route: "PUT /pictures",
  params: {},
  query: {},
  body: undefined,
  contentType: "image/png",
  headers: {},
};
const MIB = 2 ** 20;

test("a body of up to 1 MiB is in the message, and needs no folder", async () => {
  const bytes = Buffer.alloc(MIB, 7);
  const storage = () => assert.fail("the folder is not asked for");

  const sent = await sendWithBody({ ...REQUEST, bytes }, storage, async (call) => call);
  const without = await sendWithBody(REQUEST, storage, async (call) => call);

  assert.deepEqual(sent, { ...REQUEST, bytes: bytes.toString("base64") });
  assert.deepEqual(without, REQUEST);
});

test("a larger body is in a private file while the plugin answers", async (t) => {
  const folder = await emptyFolder(t);
  const bytes = Buffer.alloc(MIB + 1, 7);

  const sent = await sendWithBody(
    { ...REQUEST, bytes },
    async () => folder,
    async (call) => {
      const path = call.bytesFile ?? assert.fail();
      const { mode } = await stat(path);
      return { call, folder: dirname(path), mode: mode & 0o777, read: await readFile(path) };
    },
  );

  assert.equal(sent.call.bytes, undefined);
  assert.deepEqual([sent.folder, sent.mode], [folder, 0o600]);
  assert.ok(sent.read.equals(bytes));
  assert.deepEqual(await readdir(folder), []);
});

test("the file of a body is removed when the plugin fails, and may be gone before", async (t) => {
  const folder = await emptyFolder(t);
  const input = { ...REQUEST, bytes: Buffer.alloc(MIB + 1) };

  const failing = sendWithBody(
    input,
    async () => folder,
    async ({ bytesFile }) => {
      await rm(bytesFile ?? assert.fail());
      throw new Error("the plugin ended");
    },
  );

  await assert.rejects(failing, /the plugin ended/);
  assert.deepEqual(await readdir(folder), []);
});
