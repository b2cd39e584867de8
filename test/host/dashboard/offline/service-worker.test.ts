import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { mockAgain } from "../../../helpers/mock-again.ts";
import { FakeCaches } from "./fake-caches.ts";

type Listener = (event: object) => void;

const listeners = new Map<string, Listener>();
const caches = new FakeCaches();
const done: string[] = [];
const pages: object[] = [];
const globals = {
  MANTEL_BUILD: { id: "a", files: ["/assets/main.a.js"] },
  caches,
  location: { origin: "http://mantel.test" },
  skipWaiting: async () => void done.push("skips waiting"),
  clients: {
    claim: async () => void done.push("claims"),
    matchAll: async () => pages,
    openWindow: async (path: string) => void done.push(`opens ${path}`),
  },
  registration: {
    showNotification: async (title: string, options: object) =>
      void done.push(`${title}: ${JSON.stringify(options)}`),
  },
  addEventListener: (type: string, listener: Listener) => listeners.set(type, listener),
};

test("the worker stores its build, takes over, answers requests for it, and shows messages", async (t) => {
  setGlobals(t);
  await import("../../../../host/dashboard/offline/service-worker.ts");
  const send = async (type: string, more: object = {}) => {
    let work: Promise<unknown> | undefined;
    const keep = (given: Promise<unknown>): void => void (work = given);
    listeners.get(type)?.({ waitUntil: keep, respondWith: keep, ...more });
    return work;
  };

  await send("install");
  await send("activate");
  const answer = await send("fetch", { request: new Request("http://mantel.test/") });
  const other = await send("fetch", { request: new Request("http://mantel.test/api/v1/config") });
  await send("message", { data: ["/assets/widgets/a.1.js"] });
  await send("message", { data: "not a list" });

  assert.deepEqual(caches.pathsIn("mantel-shell-a"), ["/", "/api", "/assets/main.a.js"]);
  assert.deepEqual(done, ["skips waiting", "claims"]);
  assert.equal(await (answer as Response).text(), "from the host");
  assert.equal(other, undefined);

  done.length = 0;
  const push = (text: string | null) =>
    send("push", { data: text === null ? null : { text: () => text } });
  await push('{"title":"Home","body":"The door is open"}');
  for (const damaged of [null, "", "{", "null", '{"title":1,"body":{}}']) await push(damaged);
  const close = () => void done.push("closes it");
  await send("notificationclick", { notification: { close } });
  pages.push({ focus: async () => void done.push("shows the page") });
  await send("notificationclick", { notification: { close } });

  assert.deepEqual(done, [
    'Home: {"body":"The door is open"}',
    ...Array.from({ length: 5 }, () => 'Mantel: {"body":""}'),
    "closes it",
    "opens /",
    "closes it",
    "shows the page",
  ]);
});

/** Gives the process the globals of a worker until the test ends. */
function setGlobals(t: TestContext): void {
  mockAgain(t, globalThis, "fetch", async () => new Response("from the host"));
  for (const [name, value] of Object.entries(globals)) {
    const former = Object.getOwnPropertyDescriptor(globalThis, name);
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    t.after(() => {
      if (former) Object.defineProperty(globalThis, name, former);
      else Reflect.deleteProperty(globalThis, name);
    });
  }
}
