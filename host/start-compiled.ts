// The first of the files that the host is compiled to: runs the other two, its packages and its sources.
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { type Require, runBundle, runPackages } from "@mantel/plugin-sdk/compiled-code";

const base = fileURLToPath(import.meta.url).replace(/\.mjs$/, "");
const sources = `${base}.sources.cjs`;
const require: Require = createRequire(sources);
const packages = runPackages(`${base}.packages.cjs`, dirname(base), require);
runBundle(sources, (specifier) =>
  Object.hasOwn(packages, specifier) ? packages[specifier] : require(specifier),
);
