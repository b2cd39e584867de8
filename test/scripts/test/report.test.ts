import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Report } from "../../../scripts/test/report.ts";
import type { FileResult } from "../../../scripts/test/run-files.ts";

const good = (file: string, ms = 1): FileResult => ({
  file,
  ms,
  output: "",
  tests: [{ kind: "ended", path: [file, "works"], isSuite: false, ms }],
});
const bad = (file: string): FileResult => ({
  file,
  ms: 1,
  output: "a line of the log\n",
  tests: [{ kind: "ended", path: [file, "breaks"], isSuite: false, ms: 1, error: "no", line: 9 }],
});

test("the ten slowest files are printed, the slowest first", (t) => {
  const { report, printed } = open(t);
  for (let seconds = 1; seconds <= 12; seconds += 1)
    report.add(good(`f${seconds}`, seconds * 1_000));

  report.finish(1);

  const [, slowest = ""] = printed().split("slowest files:\n");
  const lines = slowest.split("\n").slice(0, 11);
  assert.equal(lines[0], "  12.0 s  f12");
  assert.equal(lines[9], "   3.0 s  f3");
  assert.equal(lines[10], "");
});

test("a skipped test is printed with its reason", (t) => {
  const { report, printed } = open(t);
  const skipped = { kind: "ended", path: ["f", "asks"], isSuite: false, ms: 0 } as const;

  report.add({ ...good("f"), tests: [{ ...skipped, skipped: "mosquitto is not installed" }] });
  report.finish(1);

  assert.match(printed(), /^ {2}﹣ asks: mosquitto is not installed$/m);
  assert.match(printed(), /^skip 1$/m);
  assert.equal(report.hasFailed, false);
});

test("a file that cannot run is printed with the reason and counts as skipped", (t) => {
  const { report, printed } = open(t);

  report.addSkipped("f", "Chromium is not installed");
  report.finish(1);

  assert.match(printed(), /^﹣ f: Chromium is not installed$/m);
  assert.match(printed(), /^skip 1$/m);
  assert.equal(report.hasFailed, false);
});

test("a failure is printed with file, line and log, and again at the end", (t) => {
  const { report, printed } = open(t);

  report.add(good("a"));
  report.add(bad("b"));
  report.finish(1);

  assert.equal(report.hasFailed, true);
  assert.match(printed(), /✖ b \(0\.0 s\)\n✖ b:9 breaks\nno\na line of the log\n/);
  assert.match(printed(), /failed:\n\n✖ b:9 breaks\nno\n/);
});

test("a file without tests fails the run", (t) => {
  const { report, printed } = open(t);

  report.add({ ...good("f"), tests: [] });

  assert.equal(report.hasFailed, true);
  assert.match(printed(), /^✖ f: none of its tests ran$/m);
});

test("a fault of the process of a file fails the run", (t) => {
  const { report, printed } = open(t);

  report.add({ ...good("f"), fault: "the process ended with SIGSEGV" });

  assert.equal(report.hasFailed, true);
  assert.match(printed(), /^✖ f: the process ended with SIGSEGV$/m);
});

test("only a repeated file that passed the second time is unsteady", (t) => {
  const { report, printed } = open(t);

  for (const second of [good("a"), bad("b")]) {
    report.announceRepeated(bad(second.file));
    report.addRepeated(second);
  }
  report.finish(1);

  assert.match(printed(), /^unsteady: a failed beside other tests and passed alone$/m);
  assert.doesNotMatch(printed(), /^unsteady: b/m);
  assert.match(printed(), /^fail 1$/m);
});

function open(t: TestContext) {
  const lines: string[] = [];
  t.mock.method(console, "log", (line: string) => lines.push(line));
  return { report: new Report({ isVerbose: false }), printed: () => `${lines.join("\n")}\n` };
}
