// Takes the place of node:test in the tests that Stryker runs: registers them, and runner.ts runs them. Has what tests
// without a process of their own use.

import { Context, readArguments, type Work } from "./context.ts";

export interface RegisteredTest {
  /** The file, the names of the suites, and its own name. */
  readonly id: string;
  readonly work: Work;
  readonly hooks: Hooks;
}

/** The hooks of a test file. */
interface Hooks {
  readonly beforeEach: Work[];
  readonly after: Work[];
}

let tests: RegisteredTest[] = [];
let names: readonly string[] = [];
let hooks: Hooks = { beforeEach: [], after: [] };
let counts = new Map<string, number>();

/** Tests belong to this file from now on. */
export function startFile(file: string): void {
  names = [file];
  hooks = { beforeEach: [], after: [] };
}

/** The tests registered since the last call. */
export function takeTests(): RegisteredTest[] {
  const taken = tests;
  tests = [];
  counts = new Map();
  return taken;
}

export function test(...args: readonly unknown[]): Promise<void> {
  const { name, work, isSkipped } = readArguments(args);
  const id = [...names, name].join(" > ");
  const count = (counts.get(id) ?? 0) + 1;
  counts.set(id, count);
  if (!isSkipped) tests.push({ id: count > 1 ? `${id} (${count})` : id, work, hooks });
  return Promise.resolve();
}

/** The suite has to register its tests before it returns. */
export function describe(...args: readonly unknown[]): Promise<void> {
  const { name, work, isSkipped } = readArguments(args);
  if (isSkipped) return Promise.resolve();
  const outer = names;
  names = [...outer, name];
  work(new Context(name));
  names = outer;
  return Promise.resolve();
}

export function beforeEach(work: Work): void {
  hooks.beforeEach.push(work);
}

export function after(work: Work): void {
  hooks.after.push(work);
}
