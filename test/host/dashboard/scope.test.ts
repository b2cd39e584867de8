import assert from "node:assert/strict";
import { test } from "node:test";
import { Scope } from "../../../host/dashboard/scope.ts";
import "../../helpers/page/light-dom.ts";

test("resources that a widget opened are closed in reverse order, and an error in between stops nothing", (t) => {
  const failed = t.mock.method(console, "error", () => undefined);
  const scope = new Scope();
  const closed: number[] = [];
  const fault = new Error("stuck");
  scope.onEnd(() => closed.push(1));
  scope.onEnd(() => {
    throw fault;
  });
  scope.onEnd(() => closed.push(3));

  scope.end();
  scope.end();

  assert.deepEqual(closed, [3, 1]);
  assert.deepEqual(
    failed.mock.calls.map(({ arguments: words }) => words),
    [["could not release a resource of a widget", fault]],
  );
  assert.equal(scope.signal.aborted, true);
});

test("a resource that is opened after the end is closed immediately", () => {
  const scope = new Scope();
  scope.end();
  let isClosed = false;

  scope.onEnd(() => (isClosed = true));

  assert.equal(isClosed, true);
});

test("timers run with their arguments until the widget clears them or ends", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const { scope, globals } = opened();
  const ran: unknown[] = [];
  const run = (...args: unknown[]): void => void ran.push(...args);

  globals.setTimeout(run, 10, "once");
  globals.setInterval(run, 10, "often");
  globals.clearTimeout(globals.setTimeout(run, 10, "cleared"));
  globals.clearInterval(globals.setInterval(run, 10, "cleared"));
  globals.clearTimeout(undefined);
  t.mock.timers.tick(10);
  t.mock.timers.tick(10);
  globals.setTimeout(run, 10, "too late");
  scope.end();
  t.mock.timers.tick(10);

  assert.deepEqual(ran, ["once", "often", "often"]);
});

test("nothing starts after the end", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { scope, globals } = opened();
  let ran = 0;
  scope.end();

  const ids = [globals.setTimeout(() => ran++, 0), globals.requestAnimationFrame(() => ran++)];
  t.mock.timers.tick(10);

  assert.deepEqual([ids, ran], [[0, 0], 0]);
});

test("animation frames run until the widget cancels them or ends", (t) => {
  const { scope, globals } = opened();
  const frames = new Map<number, FrameRequestCallback>();
  t.mock.method(window, "requestAnimationFrame", (run: FrameRequestCallback) => {
    frames.set(frames.size + 1, run);
    return frames.size;
  });
  t.mock.method(window, "cancelAnimationFrame", (id: number) => frames.delete(id));
  const drawn: number[] = [];

  globals.requestAnimationFrame((now) => drawn.push(now));
  globals.cancelAnimationFrame(globals.requestAnimationFrame(() => undefined));
  for (const run of frames.values()) run(16);
  frames.clear();
  globals.requestAnimationFrame(() => undefined);
  scope.end();

  assert.deepEqual(drawn, [16]);
  assert.equal(frames.size, 0);
});

test("a widget fetches without the session of the user, until it ends or cancels", async (t) => {
  const { scope, globals } = opened();
  const sent: RequestInit[] = [];
  t.mock.method(window, "fetch", async (_input: unknown, init: RequestInit) => {
    sent.push(init);
    return new Response("");
  });
  const own = new AbortController();

  await globals.fetch("https://a.test/", { method: "POST", credentials: "include" });
  await globals.fetch("https://a.test/", { signal: own.signal });
  own.abort();

  const [first, second] = sent;
  assert.deepEqual([first?.method, first?.credentials], ["POST", "omit"]);
  assert.deepEqual([first?.signal?.aborted, second?.signal?.aborted], [false, true]);
  scope.end();
  assert.equal(first?.signal?.aborted, true);
});

test("listeners of the window are removed by the widget, by its own signal or at its end", () => {
  const { scope, globals } = opened();
  const heard: string[] = [];
  const own = new AbortController();
  const removed = (): void => void heard.push("removed");
  globals.addEventListener("ping", () => heard.push("plain"));
  globals.addEventListener("ping", () => heard.push("capture"), true);
  globals.addEventListener("ping", () => heard.push("once"), { once: true });
  globals.addEventListener("ping", () => heard.push("own"), { signal: own.signal });
  globals.addEventListener("ping", removed);
  globals.removeEventListener("ping", removed);

  window.dispatchEvent(new Event("ping"));
  const first = heard.splice(0).toSorted();
  own.abort();
  window.dispatchEvent(new Event("ping"));
  const second = heard.splice(0).toSorted();
  scope.end();
  window.dispatchEvent(new Event("ping"));

  assert.deepEqual(first, ["capture", "once", "own", "plain"]);
  assert.deepEqual(second, ["capture", "plain"]);
  assert.deepEqual(heard, []);
});

test("a loop without an end is stopped, and reported", (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => (now += 20));
  const faults: Error[] = [];
  const { globals } = new Scope((error) => faults.push(error));

  assert.throws(() => {
    for (;;) globals.mantelLoop();
  }, /infinite loop/);
  assert.equal(faults.length, 1);
});

function opened() {
  const scope = new Scope();
  return { scope, globals: scope.globals };
}
