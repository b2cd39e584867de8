import assert from "node:assert/strict";
import { test } from "node:test";
import { causeOf, type Exit } from "../../../host/modules/process/cause.ts";

const EXIT: Exit = { code: null, signal: null, lastLines: [], isFlooding: false };

/** Last lines of real processes of Node 20 and 24. */
const CAUSES: readonly [Partial<Exit>, RegExp][] = [
  [{ code: 0 }, /ended itself with code 0: process\.exit/],
  [{ signal: "SIGTERM" }, /ended by SIGTERM/],
  [{ signal: "SIGSEGV" }, /native code/],
  [{ signal: "SIGABRT" }, /aborted/],
  [
    {
      signal: "SIGABRT",
      lastLines: [
        "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
      ],
    },
    /heap was full.*limits\.memoryMiB/,
  ],
  [
    { signal: "SIGTRAP", lastLines: ["# Fatal JavaScript invalid size error 169220804"] },
    /heap was full/,
  ],
  [
    { code: 1, lastLines: ["a.ts:1", "TypeError: late", "    at a.ts:1"] },
    /an error: TypeError: late/,
  ],
  [
    { code: 1, lastLines: ["mantel: nothing caught this rejection", "Error: alone"] },
    /a rejected promise: Error: alone/,
  ],
  [
    { signal: "SIGABRT", lastLines: ["JavaScript heap out of memory"], isFlooding: true },
    /flooded the host/,
  ],
  [
    { signal: "SIGKILL", lastLines: ["mantel: the channel to the host is closed"] },
    /closed its channel to the host/,
  ],
  [{ signal: "SIGKILL", ended: { cause: "it was told to", since: 0 } }, /^it was told to$/],
];

for (const [exit, cause] of CAUSES) {
  test(`an end by ${exit.signal ?? exit.code} with "${exit.lastLines?.[0] ?? ""}" is ${cause}`, () => {
    assert.match(causeOf({ ...EXIT, ...exit }), cause);
  });
}
