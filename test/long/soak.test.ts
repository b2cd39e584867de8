import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOf, growthOf } from "../../scripts/soak/verdict.ts";
import { openWeek } from "../../scripts/soak/week.ts";
import { runScript } from "../helpers/script.ts";

const START = { hostRssMiB: 160, childrenMiB: 90, timers: 4, functions: 17_000, pageNodes: 63 };

test("a soak passes if memory stays within its bound and counts are constant", () => {
  const end = { ...START, hostRssMiB: 166.5, childrenMiB: 92, timers: 5, functions: 17_100 };

  const growth = growthOf(START, end);

  assert.equal(growth["hostRssMiB"], 6.5);
  assert.deepEqual(faultsOf(growth), []);
});

test("a soak fails if memory grows, in one process or in the sum", () => {
  const growth = growthOf(START, { ...START, hostRssMiB: 166, childrenMiB: 95 });

  assert.deepEqual(faultsOf(growth), ["host and children grew by 11 MiB"]);
});

test("a soak fails if a count grows, and names it with its bound", () => {
  const growth = growthOf(START, { ...START, functions: 18_000, pageNodes: 163 });

  assert.deepEqual(faultsOf(growth), [
    "functions grew by 1000, and 300 is the bound",
    "pageNodes grew by 100, and 50 is the bound",
  ]);
});

test("memory that the browser keeps in the control page is shown but does not fail the soak", () => {
  const growth = growthOf({ "control pageNodes": 7 }, { "control pageNodes": 900 });

  assert.equal(growth["control pageNodes"], 893);
  assert.deepEqual(faultsOf(growth), []);
});

test("an unknown soak is refused with the list of known ones", async () => {
  const { code, stderr } = await runScript("soak", ["everything"]);

  assert.equal(code, 2);
  assert.match(
    stderr,
    /usage: npm run soak -- \[reloads \| failed \| widgets \| tab \| faults \| fuzz \| channel \| week \| kills \| broker \| home-assistant \| full-disk\] \[rounds\]/,
  );
});

test("hours of a busy home fail no request and leave nothing open", async (t) => {
  const week = await openWeek();
  const pass = async (from: number, to: number) => {
    for (let hour = from; hour <= to; hour++) await week.round(hour);
    return week.read();
  };

  const start = await pass(1, 2);
  const end = await pass(3, 5);
  const { asked, failed } = await week.end();

  t.diagnostic(JSON.stringify({ hours: 5, asked, failed, growth: growthOf(start, end) }));
  assert.equal(failed, 0);
  const names = ["hostDescriptors", "childrenDescriptors", "processes", "timers"];
  const growth = Object.entries(growthOf(start, end)).filter(([name]) => names.includes(name));
  assert.deepEqual(faultsOf(Object.fromEntries(growth)), []);
});
