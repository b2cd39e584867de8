import type { TestFile } from "./imports.ts";

/** Test files that need no process of their own share so many. */
const SHARED_PROCESSES = 6;
/**
 * Test files that start processes share one by so many: to start it, and to load hosts or Playwright, takes about a
 * second of CPU time. Those with a browser take minutes each.
 */
const FILES_WITH_PROCESSES = 10;
const FILES_WITH_BROWSER = 3;

/**
 * The test files of each process. Those with a browser come last, because Chromium keeps the cores busy and other tests
 * count on some time of theirs. Those that start processes wait for much of their time, so the ones that keep a core
 * busy are spread among them. Among each kind those come first that take longest by `msOf`. At most `most` files share a
 * process, fewer where they use a browser.
 */
export function groupFiles(
  all: readonly TestFile[],
  msOf: (file: TestFile) => number,
  most = FILES_WITH_PROCESSES,
): (readonly TestFile[])[] {
  const total = (group: readonly TestFile[]) => group.reduce((sum, file) => sum + msOf(file), 0);
  const longestFirst = (groups: readonly (readonly TestFile[])[]) =>
    groups.filter(({ length }) => length > 0).toSorted((a, b) => total(b) - total(a));
  const inOne = all.filter(({ isAlone }) => !isAlone);
  const quick = inOne.filter(({ startsProcesses }) => !startsProcesses);
  const slow = inOne.filter(({ startsProcesses }) => startsProcesses);
  // with the globals of a page, what a test starts would not work as it does without them
  const withoutPage = slow.filter(({ usesPage }) => !usesPage);
  const sharing = [
    ...inTurns(
      quick.filter(({ usesPage }) => !usesPage).toSorted((a, b) => msOf(b) - msOf(a)),
      SHARED_PROCESSES,
    ),
    quick.filter(({ usesPage }) => usesPage),
  ];
  const others = [
    ...neighbours(
      withoutPage.filter(({ usesBrowser }) => usesBrowser),
      Math.min(most, FILES_WITH_BROWSER),
    ),
    ...neighbours(
      withoutPage.filter(({ usesBrowser }) => !usesBrowser),
      most,
    ),
    ...neighbours(
      slow.filter(({ usesPage }) => usesPage),
      most,
    ),
    ...all.filter(({ isAlone }) => isAlone).map((file) => [file]),
  ];
  const hasBrowser = (group: readonly TestFile[]) => group.some((file) => file.usesBrowser);
  return [
    ...spread(longestFirst(sharing), longestFirst(others.filter((group) => !hasBrowser(group)))),
    ...longestFirst(others.filter(hasBrowser)),
  ];
}

/** The items of `some` at even distances among those of `others`, the first one in front. */
function spread<T>(some: readonly T[], others: readonly T[]): T[] {
  const distance = others.length / some.length;
  return [
    ...some.map((item, at) => ({ item, place: at * distance })),
    ...others.map((item, at) => ({ item, place: at })),
  ]
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

/** Deals the files out to at most `count` processes. */
function inTurns(all: readonly TestFile[], count: number): TestFile[][] {
  const used = Math.min(count, Math.ceil(all.length / count));
  return Array.from({ length: used }, (_each, group) =>
    all.filter((_file, index) => index % used === group),
  );
}

/** Groups of at most `count` files that are beside each other, whose process has loaded most of what the next one needs. */
function neighbours(all: readonly TestFile[], count: number): TestFile[][] {
  const groups: TestFile[][] = [];
  for (const file of all) {
    const group = groups.at(-1);
    if (group && group.length < count) group.push(file);
    else groups.push([file]);
  }
  return groups;
}
