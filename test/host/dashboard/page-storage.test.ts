import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { lasting, ofTab } from "../../../host/dashboard/page-storage.ts";

/** A storage of the browser whose methods may fail. */
function useStorage(t: TestContext, name: "localStorage" | "sessionStorage", get: () => unknown) {
  const before = Object.getOwnPropertyDescriptor(globalThis, name);
  Object.defineProperty(globalThis, name, { get, configurable: true });
  t.after(() => {
    if (before) Object.defineProperty(globalThis, name, before);
    else Reflect.deleteProperty(globalThis, name);
  });
}

function storageOf(stored: Map<string, string>, isFull = (): boolean => false) {
  return {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem(key: string, value: string) {
      if (isFull()) throw new DOMException("full", "QuotaExceededError");
      stored.set(key, value);
    },
    removeItem: (key: string) => stored.delete(key),
  };
}

test("a value is stored, read and deleted", (t) => {
  const stored = new Map<string, string>();
  useStorage(t, "sessionStorage", () => storageOf(stored));

  ofTab.set("a", "1");
  assert.deepEqual([ofTab.get("a"), stored.get("a")], ["1", "1"]);
  ofTab.set("a", undefined);
  assert.deepEqual([ofTab.get("a"), stored.size], [null, 0]);
});

test("where storage is forbidden nothing is there and nothing is stored", (t) => {
  useStorage(t, "localStorage", () => {
    throw new DOMException("forbidden", "SecurityError");
  });

  lasting.set("a", "1");
  assert.equal(lasting.get("a"), null);
  lasting.set("a", undefined);
});

test("while storage is full the old value stays", (t) => {
  const stored = new Map([["a", "old"]]);
  useStorage(t, "localStorage", () => storageOf(stored, () => true));

  lasting.set("a", "new");
  assert.equal(lasting.get("a"), "old");
});
