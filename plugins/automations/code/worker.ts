import { parentPort, workerData } from "node:worker_threads";
import type { FromThread, ToThread } from "./protocol.ts";
import { CodeRuntime } from "./runtime.ts";

// The thread of automations as code. The main thread ends it when code in it does not end.
const { running } = workerData as { running: Int32Array };
const { setImmediate: soon } = globalThis;
const runtime = new CodeRuntime({
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is not a window
  send: (message: FromThread) => parentPort?.postMessage(message),
  entered(version) {
    Atomics.store(running, 0, version);
    soon(() => Atomics.store(running, 0, 0));
  },
});

for (const name of ["setTimeout", "setInterval", "setImmediate", "queueMicrotask"] as const) {
  const original = globalThis[name] as (callback: unknown, ...given: unknown[]) => unknown;
  Object.assign(globalThis, {
    [name]: (callback: (...given: unknown[]) => unknown, ...given: unknown[]) =>
      original(runtime.withOwner(callback), ...given),
  });
}
for (const [name, level] of [
  ["debug", "info"],
  ["log", "info"],
  ["info", "info"],
  ["warn", "warn"],
  ["error", "error"],
] as const) {
  Object.assign(console, { [name]: (...parts: unknown[]) => runtime.print(level, parts) });
}
const onError = (error: unknown): void => {
  if (!runtime.crashed(error)) throw error;
};
process.on("uncaughtException", onError);
process.on("unhandledRejection", onError);
parentPort?.on("message", (message: ToThread) => runtime.take(message));
