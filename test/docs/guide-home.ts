import assert from "node:assert/strict";
import { cp, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Block } from "./guide-blocks.ts";

export const REPOSITORY = resolve(import.meta.dirname, "../..");
const GUIDE = join(REPOSITORY, "docs/plugin-guide");
const OVERVIEW = "README.md";

/** The pages of the plugin guide, in the order in which they are read. */
export async function readGuide(): Promise<string[]> {
  const pages = (await readdir(GUIDE)).filter((name) => name !== OVERVIEW).toSorted();
  return Promise.all([OVERVIEW, ...pages].map((name) => readFile(join(GUIDE, name), "utf8")));
}

/** Writes what a block of the guide has its reader write. */
export async function save(
  home: string,
  block: Exclude<Block, { kind: "commands" }>,
): Promise<void> {
  const file = join(home, block.path);
  await mkdir(dirname(file), { recursive: true });
  if (block.kind === "file") return writeFile(file, block.content);
  const [start = "", end, ...more] = (await readFile(file, "utf8")).split(block.before);
  assert(
    end !== undefined && more.length === 0,
    `not exactly once in ${block.path}:\n${block.before}`,
  );
  return writeFile(file, start + block.after + end);
}

/** Makes a folder look like the repository, as far as a reader needs it. */
export async function linkParts(home: string, parts: readonly string[]): Promise<void> {
  for (const part of parts) await symlink(join(REPOSITORY, part), join(home, part));
  const helper = "test/helpers/until.ts";
  await cp(join(REPOSITORY, helper), join(home, helper));
}
