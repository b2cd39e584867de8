import assert from "node:assert/strict";
import { test } from "node:test";
import { exitReason, type Exit } from "../../../host/modules/process/exit-reason.ts";

const EXIT: Exit = {
  code: null,
  signal: null,
  lastLines: [],
  isFlooding: false,
  isOutOfMemory: false,
};

/** Last lines of real processes of Node 20 and 24. */
const CAUSES: readonly [Partial<Exit>, RegExp][] = [
  [{ code: 0 }, /exited with code 0: process\.exit/],
  [{ signal: "SIGTERM" }, /killed by SIGTERM/],
  [{ signal: "SIGSEGV" }, /native code/],
  [{ signal: "SIGABRT" }, /aborted/],
  [{ signal: "SIGKILL" }, /killed by SIGKILL/],
  [{ signal: "SIGKILL", isOutOfMemory: true }, /used more memory than its limit/],
  [
    { code: 1, lastLines: ["bwrap: Can't mkdir /x: Read-only file system"] },
    /sandbox did not start \(bwrap: Can't mkdir/,
  ],
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
    /an uncaught error: TypeError: late/,
  ],
  [
    { code: 1, lastLines: ["mantel: nothing caught this rejection", "Error: alone"] },
    /an unhandled rejection: Error: alone/,
  ],
  [
    { signal: "SIGABRT", lastLines: ["JavaScript heap out of memory"], isFlooding: true },
    /message rate limit exceeded/,
  ],
  [
    { signal: "SIGKILL", lastLines: ["mantel: the channel to the host is closed"] },
    /closed its channel to the host/,
  ],
  [{ signal: "SIGKILL", ended: { cause: "it was told to", since: 0 } }, /^it was told to$/],
];

for (const [exit, cause] of CAUSES) {
  test(`an end by ${exit.signal ?? exit.code} with "${exit.lastLines?.[0] ?? ""}" is ${cause}`, () => {
    assert.match(exitReason({ ...EXIT, ...exit }), cause);
  });
}
