import assert from "node:assert/strict";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { RouteCall, SentAnswer, StartRequest } from "@mantel/plugin-sdk/protocol";
import { ROUTE_LIMITS, type RouteDefinition } from "@mantel/plugin-sdk/route";
import { Type } from "typebox";
import { RouteAnswers } from "../../../host/modules/lifecycle/route-answers.ts";
import { emptyFolder } from "../../helpers/folder.ts";

const ROUTE = "GET /photos";
const INPUT = {
  route: ROUTE,
  params: {},
  query: {},
  body: undefined,
  contentType: "",
  headers: {},
};
const DEFINITION = { summary: "Photos" } as unknown as RouteDefinition;
const LARGE = Buffer.alloc(ROUTE_LIMITS.mostBytes + 1, "a");

/** The answers of a module whose code answers with `answer`. */
async function openAnswers(t: TestContext, answer: (call: RouteCall) => Promise<SentAnswer>) {
  const home = await emptyFolder(t);
  const [storage, pictures] = [join(home, "storage"), join(home, "pictures")];
  for (const folder of [storage, pictures]) await mkdir(folder);
  const warnings: unknown[][] = [];
  const running: { request: StartRequest | undefined; ready: () => Promise<void> | undefined } = {
    request: { storage, folders: { pictures } } as unknown as StartRequest,
    ready: () => undefined,
  };
  const answers = new RouteAnswers("gallery", {
    call: answer,
    ready: () => running.ready(),
    request: () => running.request,
    warn: (...warning) => warnings.push(warning),
  });
  return { answers, warnings, running, home, storage, pictures };
}

test("an answer of the code is checked and passed on", async (t) => {
  const calls: RouteCall[] = [];
  const { answers, warnings } = await openAnswers(t, async (call) => {
    calls.push(call);
    return { status: 201, json: { name: "Porch" }, headers: { etag: '"1"' } };
  });

  const { status, headers, body } = await answers.answer(DEFINITION, INPUT);

  assert.deepEqual([status, headers, String(body)], [201, { etag: '"1"' }, '{"name":"Porch"}']);
  assert.deepEqual([calls, warnings], [[INPUT], []]);
});

test("a file is opened in the module's storage and in its folders, and nowhere else", async (t) => {
  let file = "";
  const { answers, warnings, home, storage, pictures } = await openAnswers(t, async () => ({
    file,
  }));
  for (const folder of [storage, pictures]) {
    file = join(folder, "porch.jpg");
    await writeFile(file, folder);
    const answer = await answers.answer(DEFINITION, INPUT);
    assert.equal(await answer.file?.handle.readFile("utf8"), folder);
    await answer.file?.handle.close();
  }
  file = join(home, "keys.json");
  await writeFile(file, "secret");

  await assert.rejects(answers.answer(DEFINITION, INPUT), { code: "internal" });
  assert.equal(warnings.length, 1);
  assert.match(String(warnings[0]?.[1]), /^GET \/photos: .*is not in a folder of the plugin/);
});

test("a file is refused when no process runs any more", async (t) => {
  const opened = await openAnswers(t, async () => ({ file: join(opened.storage, "porch.jpg") }));
  await writeFile(join(opened.storage, "porch.jpg"), "a picture");
  opened.running.request = undefined;
  await assert.rejects(opened.answers.answer(DEFINITION, INPUT), { code: "internal" });
});

test("a large body waits for the process, and goes through a file in its storage", async (t) => {
  const received: (readonly [path: string, text: string])[] = [];
  const { answers, running, storage } = await openAnswers(t, async ({ bytes, bytesFile = "" }) => {
    assert.equal(bytes, undefined);
    received.push([dirname(bytesFile), await readFile(bytesFile, "utf8")]);
    return { status: 204 };
  });
  const { request } = running;
  running.request = undefined; // it rests
  running.ready = async () => void (running.request = request);

  await answers.answer(DEFINITION, { ...INPUT, bytes: LARGE });

  assert.deepEqual(received, [[storage, String(LARGE)]]);
  assert.deepEqual(await readdir(storage), []);
});

test("a large body for a module that does not run is refused", async (t) => {
  const { answers, running } = await openAnswers(t, () => assert.fail("it was called"));
  running.request = undefined;
  await assert.rejects(answers.answer(DEFINITION, { ...INPUT, bytes: LARGE }), {
    code: "module_down",
    message: "gallery is not running",
  });
});

test("an expected failure reaches the client as it is", async (t) => {
  const failure = new MantelError("not_found", "there is no such photo");
  const { answers, warnings } = await openAnswers(t, () => Promise.reject(failure));
  await assert.rejects(answers.answer(DEFINITION, INPUT), (error) => error === failure);
  assert.deepEqual(warnings, []);
});

test("a fault of the code is hidden from the client, and its cause is kept", async (t) => {
  const fault = new Error("the password of the database is wrong");
  const { answers, warnings } = await openAnswers(t, () => Promise.reject(fault));
  await assert.rejects(answers.answer(DEFINITION, INPUT), {
    code: "internal",
    message: "the route GET /photos of gallery failed; see the log of gallery",
    cause: fault,
  });
  assert.deepEqual(warnings, []); // the runtime has logged it with its stack
});

test("an answer that breaks the route's schema is only in the log", async (t) => {
  const definition = { ...DEFINITION, response: Type.Object({ name: Type.String() }) };
  const { answers, warnings } = await openAnswers(t, async () => ({ json: { name: 7 } }));
  await assert.rejects(answers.answer(definition, INPUT), {
    code: "internal",
    message: "the route GET /photos of gallery failed; see the log of gallery",
  });
  assert.equal(warnings[0]?.[0], "a route gave a wrong answer");
  assert.match(String(warnings[0]?.[1]), /^GET \/photos: .*name/);
});
