// The first of the files that the host is compiled to: runs the other two, its packages and its sources.
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { type Require, runCached } from "@mantel/plugin-sdk/compiled-code";
import { mapStacks } from "./compiled-stacks.ts";
import type * as Main from "./main.ts";

const base = fileURLToPath(import.meta.url).replace(/\.mjs$/, "");
const sources = `${base}.sources.cjs`;
const cache = `${base}.cache`;
const require: Require = createRequire(sources);
mapStacks(sources);
for (const part of ["packages", "sources"]) mkdirSync(`${cache}/${part}`, { recursive: true });
const packages = runCached(`${base}.packages.cjs`, `${cache}/packages`, require);
const host = runCached(sources, `${cache}/sources`, (specifier) =>
  Object.hasOwn(packages.exports, specifier) ? packages.exports[specifier] : require(specifier),
);
// Once the host is ready, because most of what a start runs is first called then.
void (host.exports as unknown as typeof Main).whenReady.then(() => {
  packages.save();
  host.save();
});
