import assert from "node:assert/strict";
import { test } from "node:test";
import { WorkerFiles } from "../../../../host/dashboard/offline/worker-files.ts";
import { FakeCaches } from "./fake-caches.ts";

const ORIGIN = "http://mantel.test";
const LASTING = { headers: { "cache-control": "public, max-age=31536000, immutable" } };
const WIDGET = "/assets/widgets/room-widget.1f.js";

test("a start without the host gets the page and the files of its build", async () => {
  const { worker, host } = home({ id: "a", files: ["/assets/main.a.js"] });
  await worker.install();
  host.isAway = true;

  assert.equal(await textOf(worker, "/?display=wall"), "/ of a");
  assert.equal(await textOf(worker, "/assets/main.a.js"), "/assets/main.a.js of a");
  assert.equal(await textOf(worker, "/api"), "/api of a");
});

test("the page and the address of the API come from the host while it answers", async () => {
  const { worker, host } = home();
  await worker.install();
  host.build = "b";

  assert.equal(await textOf(worker, "/"), "/ of b");
  assert.equal(await textOf(worker, "/api"), "/api of b");
  host.isAway = true;
  assert.equal(await textOf(worker, "/"), "/ of a", "the page that belongs to the stored files");
  assert.equal(await textOf(worker, "/api"), "/api of b");
});

test("a proxy whose host is away counts as no answer", async () => {
  const { worker, host } = home();
  await worker.install();
  host.status = 502;

  assert.equal(await textOf(worker, "/"), "/ of a");
});

test("a host that does not answer in time is not waited for", async () => {
  const { worker, host } = home();
  await worker.install();
  host.answers = () => new Promise(() => undefined);

  assert.equal(await textOf(worker, "/"), "/ of a");
});

test("without a stored page, the host's answer is passed on unchanged", async () => {
  const { worker, host } = home();
  host.status = 503;
  assert.equal((await worker.answer(new Request(`${ORIGIN}/`)))?.status, 503);
  host.isAway = true;
  await assert.rejects(async () => worker.answer(new Request(`${ORIGIN}/`)), /no connection/);
});

test("nothing that needs a session passes through the worker", () => {
  const { worker } = home();
  const requests = [
    new Request(`${ORIGIN}/api/v1/smart-home/devices`),
    new Request(`${ORIGIN}/api/v1/events`),
    new Request(`${ORIGIN}/`, { method: "POST" }),
    new Request("http://elsewhere.test/assets/main.a.js"),
  ];

  for (const request of requests) assert.equal(worker.answer(request), undefined, request.url);
});

test("files that a page loads are stored, and errors and files that may change are not", async () => {
  const { worker, host, caches } = home();
  await textOf(worker, WIDGET);
  host.headers = {};
  await textOf(worker, "/assets/docs.js");
  host.status = 404;
  await textOf(worker, "/assets/icons/7/none.json");

  assert.deepEqual(caches.pathsIn("mantel-files"), [WIDGET]);
  host.isAway = true;
  assert.equal(await textOf(worker, WIDGET), `${WIDGET} of a`);
});

test("a page has the code of its widgets stored, and that of former ones deleted", async () => {
  const { worker, caches } = home();
  await textOf(worker, "/assets/widgets/room-widget.0e.js");
  await textOf(worker, "/assets/icons/7/lamp,sofa.json");

  await worker.keep([
    WIDGET,
    "/assets/icons/7/lamp,sofa.json",
    "/api/v1/config",
    "https://a.test/x.js",
  ]);

  assert.deepEqual(caches.pathsIn("mantel-files"), ["/assets/icons/7/lamp,sofa.json", WIDGET]);
});

test("above six hundred files the oldest are deleted", async () => {
  const { worker, caches } = home();
  const icons = Array.from({ length: 603 }, (_, n) => `/assets/icons/7/icon-${n}.json`);
  caches.stored.set("mantel-files", new Map(icons.map((path) => [path, new Response()])));

  await worker.keep([]);

  assert.equal(caches.pathsIn("mantel-files").length, 600);
  assert.equal(caches.pathsIn("mantel-files")[0], "/assets/icons/7/icon-3.json");
});

test("a new build keeps the files of the one before it, for pages that still run that", async () => {
  const caches = new FakeCaches();
  for (const id of ["a", "b", "c"]) {
    const { worker } = home({ id, files: [`/assets/main.${id}.js`] }, caches);
    await worker.install();
    await worker.activate();
  }
  caches.stored.set("of-another-program", new Map());
  const { worker, host } = home({ id: "c", files: [] }, caches);
  await worker.activate();
  host.isAway = true;

  assert.deepEqual(await caches.keys(), ["mantel-shell-b", "mantel-shell-c", "of-another-program"]);
  assert.equal(await textOf(worker, "/assets/main.b.js"), "/assets/main.b.js of b");
  assert.equal(await textOf(worker, "/"), "/ of c");
});

test("a worker of an older build passes on the files of a newer host", async () => {
  const { worker, host } = home({ id: "a", files: ["/assets/main.a.js"] });
  await worker.install();
  host.build = "b";

  assert.equal(await textOf(worker, "/"), "/ of b");
  assert.equal(await textOf(worker, "/assets/main.b.js"), "/assets/main.b.js of b");
});

test("with storage full or forbidden the host's answers arrive as without a worker", async () => {
  const { worker, caches } = home();
  caches.fault = new DOMException("no space", "QuotaExceededError");

  await assert.rejects(worker.install(), /no space/);
  for (const path of ["/", "/api", WIDGET])
    assert.equal(await textOf(worker, path), `${path} of a`);
});

test("a build is stored whole or not at all", async () => {
  const { worker, host, caches } = home();
  host.status = 404;

  await assert.rejects(worker.install());

  assert.deepEqual(caches.pathsIn("mantel-shell-a"), []);
});

function home(build = { id: "a", files: ["/assets/main.a.js"] }, caches = new FakeCaches()) {
  const host = {
    build: build.id,
    isAway: false,
    status: 200,
    headers: LASTING.headers as Record<string, string>,
    answers: async (path: string): Promise<Response> => {
      if (host.isAway) throw new TypeError("no connection");
      return new Response(`${path} of ${host.build}`, {
        status: host.status,
        headers: host.headers,
      });
    },
  };
  caches.fetch = host.answers;
  const worker = new WorkerFiles(build, {
    caches,
    origin: ORIGIN,
    fetch: (request) =>
      host.answers(request instanceof Request ? new URL(request.url).pathname : request),
    pause: () => new Promise((resolve) => setTimeout(resolve, 5)),
  });
  return { worker, host, caches };
}

async function textOf(worker: WorkerFiles, path: string): Promise<string | undefined> {
  return (await worker.answer(new Request(ORIGIN + path)))?.text();
}
