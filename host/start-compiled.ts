// The first of the files that the host is compiled to: runs the others, its packages and its sources.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { type Require, runCached } from "@mantel/plugin-sdk/compiled-code";
import { mapStacks } from "./compiled-stacks.ts";
import { postponeFastCode } from "./fast-code.ts";
import type * as Main from "./main.ts";

const base = fileURLToPath(import.meta.url).replace(/\.mjs$/, "");
const sources = `${base}.sources.cjs`;
mapStacks(sources);
const require: Require = createRequire(sources);
const packages = runCached(`${base}.packages.cjs`, cacheOf("packages"), require);
const host = runCached(sources, cacheOf("sources"), (specifier) =>
  Object.hasOwn(packages.exports, specifier) ? packages.exports[specifier] : require(specifier),
);
const main = host.exports as unknown as typeof Main;
const endPostponing = postponeFastCode();
main.begin();
// Once the host is ready, because most of what a start runs is first called then.
void main.whenReady.then(() => {
  endPostponing();
  packages.save();
  host.save();
});

/** The folder of V8's compiled code of the packages or the sources. */
function cacheOf(part: "packages" | "sources"): string {
  return `${base}.cache/${part}`;
}
