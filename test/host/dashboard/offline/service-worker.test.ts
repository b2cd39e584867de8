import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { mockAgain } from "../../../helpers/mock-again.ts";
import { FakeCaches } from "./fake-caches.ts";

type Listener = (event: object) => void;

const listeners = new Map<string, Listener>();
const caches = new FakeCaches();
const done: string[] = [];
const globals = {
  MANTEL_BUILD: { id: "a", files: ["/assets/main.a.js"] },
  caches,
  location: { origin: "http://mantel.test" },
  skipWaiting: async () => void done.push("skips waiting"),
  clients: { claim: async () => void done.push("claims") },
  addEventListener: (type: string, listener: Listener) => listeners.set(type, listener),
};

test("the worker stores its build, takes over and answers requests for it", async (t) => {
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
