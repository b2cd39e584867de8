// A reporter for Node's test runner: each event that scripts/test.ts needs, as a JSON text sequence (RFC 7464)
// between whatever else the tests print.

import type { TestEvent } from "node:test/reporters";
import { inspect } from "node:util";
import type { TestRecord } from "./records.ts";

/** Node's own totals at the end. */
const TOTALS = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /;
/** A parent that failed only because one of its tests did, which is reported itself. */
const CHILD_FAILED = "subtestsFailed";

export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const names: string[] = [];
  for await (const event of source) {
    if (event.type === "test:start") names[event.data.nesting] = event.data.name;
    const record = recordOf(event, names);
    if (record) yield `\u001e${JSON.stringify(record)}\n`;
  }
}

function recordOf(event: TestEvent, names: readonly string[]): TestRecord | undefined {
  switch (event.type) {
    case "test:dequeue":
      return { kind: "started", name: event.data.name };
    case "test:diagnostic":
      return TOTALS.test(event.data.message)
        ? undefined
        : { kind: "said", message: event.data.message };
    case "test:pass":
    case "test:fail":
      return resultOf(event, names);
    default:
      return undefined;
  }
}

function resultOf(
  { type, data }: Extract<TestEvent, { type: "test:pass" | "test:fail" }>,
  names: readonly string[],
): TestRecord {
  const { details, nesting, name, skip, line } = data;
  const error = type === "test:fail" ? (data.details.error as NodeJS.ErrnoException) : undefined;
  const isOnlyParent = error && "failureType" in error && error.failureType === CHILD_FAILED;
  return {
    kind: "ended",
    path: [...names.slice(0, nesting), name],
    isSuite: details.type === "suite",
    ms: details.duration_ms,
    ...(skip !== undefined && { skipped: String(skip) }),
    ...(error && !isOnlyParent && { error: inspect(error.cause ?? error), line }),
  };
}
