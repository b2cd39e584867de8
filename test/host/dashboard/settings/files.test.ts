import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Api } from "../../../../host/dashboard/api.ts";
import { download, upload } from "../../../../host/dashboard/settings/files.ts";
import { mockAgain } from "../../../helpers/mock-again.ts";

const api = new Api(() => undefined);

function answering(t: TestContext, answer: () => Promise<Response>): RequestInit[] {
  const sent: RequestInit[] = [];
  mockAgain(t, globalThis, "fetch", (_input: unknown, init: RequestInit = {}) => {
    sent.push(init);
    return answer();
  });
  return sent;
}

test("a file is downloaded by a request, and one is stored under a path", async (t) => {
  const sent = answering(t, async () => new Response("bytes"));
  const picture = new Blob(["picture"], { type: "image/jpeg" });

  const file = await download(api, "/backup", { secrets: true });
  await upload(api, "/photos/a.jpg", picture);

  assert.equal(await file.text(), "bytes");
  assert.deepEqual(
    sent.map(({ method, headers, body }) => [method, headers, body]),
    [
      ["POST", { "Content-Type": "application/json" }, '{"secrets":true}'],
      ["PUT", { "Content-Type": "image/jpeg" }, picture],
    ],
  );
});

test("a refusal is an error with the code of the host, and no answer is offline", async (t) => {
  const answers = [
    async () => Response.json({ code: "disk_full", detail: "the disk is full" }, { status: 507 }),
    async () => new Response("<html>", { status: 502 }),
    () => Promise.reject(new Error("cut")),
  ];
  answering(t, () => (answers.shift() ?? assert.fail)());
  const send = () => upload(api, "/photos/a.jpg", new Blob());

  await assert.rejects(send(), { status: 507, code: "disk_full", message: "the disk is full" });
  await assert.rejects(send(), { status: 502, code: "internal" });
  await assert.rejects(send(), { status: 0, code: "offline" });
});
