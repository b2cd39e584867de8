import assert from "node:assert/strict";
import { test } from "node:test";
import { groupFiles } from "../../../scripts/test/groups.ts";
import type { TestFile } from "../../../scripts/test/imports.ts";

const file = (path: string, how: Partial<TestFile> = {}): TestFile => ({
  path,
  isAlone: false,
  startsProcesses: false,
  usesBrowser: false,
  needsBrowser: false,
  usesPage: false,
  ...how,
});
const several = (count: number, name: string, how: Partial<TestFile> = {}) =>
  Array.from({ length: count }, (_, at) => file(`${name}${at}`, how));
const pathsOf = (groups: readonly (readonly TestFile[])[]) =>
  groups.map((group) => group.map(({ path }) => path));

test("files without processes share at most six, with the slow ones dealt out first", () => {
  const files = several(100, "quick");
  const slowest = files.slice(0, 6);

  const groups = groupFiles(files, (each) => (slowest.includes(each) ? 1_000 : 1));

  assert.deepEqual(
    groups.map(({ length }) => length),
    [17, 17, 17, 17, 16, 16],
  );
  assert.deepEqual(
    groups.map(([first]) => first),
    slowest,
  );
});

test("few files without processes share one process", () => {
  assert.equal(groupFiles(several(6, "quick"), () => 1).length, 1);
});

test("files with processes share one by ten neighbours, those with a browser by three", () => {
  const browser = { startsProcesses: true, usesBrowser: true };
  const files = [
    ...several(11, "host", { startsProcesses: true }),
    ...several(6, "page", browser),
    ...several(1, "host-too", { startsProcesses: true }),
  ];

  const groups = groupFiles(files, () => 1);

  const expected = [
    Array.from({ length: 10 }, (_, at) => `host${at}`),
    ["host10", "host-too0"],
    ["page0", "page1", "page2"],
    ["page3", "page4", "page5"],
  ];
  assert.deepEqual(new Set(pathsOf(groups)), new Set(expected));
});

test("fewer files share a process on request", () => {
  const files = several(3, "host", { startsProcesses: true });

  assert.deepEqual(pathsOf(groupFiles(files, () => 1, 1)), [["host0"], ["host1"], ["host2"]]);
});

test("files that need a page share a process with each other only", () => {
  const files = [
    file("quick"),
    file("page", { usesPage: true }),
    file("page2", { usesPage: true }),
  ];

  assert.deepEqual(pathsOf(groupFiles(files, () => 1)), [["page", "page2"], ["quick"]]);
});

test("a file that must be alone has its own process", () => {
  const files = [file("quick"), file("alone", { isAlone: true }), file("quick2")];

  assert.deepEqual(pathsOf(groupFiles(files, () => 1)), [["quick", "quick2"], ["alone"]]);
});

test("the group that takes longest comes first", () => {
  const files = ["a", "b", "c"].map((path) => file(path, { isAlone: true }));
  const ms: Readonly<Record<string, number>> = { a: 1, b: 3, c: 2 };

  assert.deepEqual(pathsOf(groupFiles(files, ({ path }) => ms[path] ?? 0)), [["b"], ["c"], ["a"]]);
});

test("files with a browser come last", () => {
  const browser = { startsProcesses: true, usesBrowser: true, isAlone: true };
  const files = [file("page", browser), file("host", { startsProcesses: true })];

  assert.deepEqual(pathsOf(groupFiles(files, ({ path }) => (path === "page" ? 9 : 1))), [
    ["host"],
    ["page"],
  ]);
});

test("groups that keep a core busy are spread among those that wait, and those with a browser are last", () => {
  const files = [
    ...several(2, "page", { startsProcesses: true, usesBrowser: true }),
    ...several(12, "quick"),
    ...several(4, "host", { startsProcesses: true }),
  ];

  const groups = groupFiles(files, ({ path }) => (path === "host2" ? 2 : 1), 1);

  const first = pathsOf(groups).map(([path = ""]) => path.replace(/quick\d+/, "quick"));
  assert.deepEqual(first, ["quick", "host2", "host0", "quick", "host1", "host3", "page0", "page1"]);
});
