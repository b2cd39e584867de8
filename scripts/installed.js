// What has to be installed before anything else runs: Node, and the packages of the lock file.
// Plain JavaScript, because it is asked before TypeScript can be loaded.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const OLDEST_NODE = [20, 19];
const EXACT_VERSION = /^\d+\.\d+\.\d+/;

/** What is wrong with this version of Node, as a sentence; `undefined` when it will do. */
export function nodeFault(version) {
  const [major, minor] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_NODE;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined;
  return `Mantel needs Node ${OLDEST_NODE.join(".")} or newer, and this is ${version}`;
}

/**
 * What is not installed below `root`: what the lock file names and npm's own record of `node_modules`
 * does not hold, and what the packages of the repository ask for and cannot find. `dev` counts what only
 * its own tests and checks need.
 */
export function missingPackages(root, { dev }) {
  const read = (path) => readJson(join(root, path));
  const installed = read("node_modules/.package-lock.json")?.packages;
  if (!installed) return ["node_modules"];
  const locked = Object.entries(read("package-lock.json")?.packages ?? {});
  return [
    ...locked
      .filter(([path, entry]) => path.startsWith("node_modules/") && !entry.optional)
      .filter(([, entry]) => dev || !(entry.dev || entry.devOptional))
      .filter(([path, { link, version }]) => !link && installed[path]?.version !== version)
      .map(([path]) => path),
    ...ownPackages(root).flatMap((folder) => missingDependencies(read, folder, dev)),
  ];
}

/** The folders of the root, the SDK and all plugins. */
function ownPackages(root) {
  const plugins = readdirSync(join(root, "plugins"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
    .map((entry) => `plugins/${entry.name}`);
  return ["", "plugin-sdk", ...plugins];
}

function missingDependencies(read, folder, dev) {
  const manifest = read(join(folder, "package.json"));
  const forDev = dev && folder === "" ? manifest?.devDependencies : {};
  return Object.entries({ ...manifest?.dependencies, ...forDev })
    .filter(([name, version]) => {
      const found =
        read(join(folder, "node_modules", name, "package.json")) ??
        read(join("node_modules", name, "package.json"));
      return !found || (EXACT_VERSION.test(version) && found.version !== version);
    })
    .map(([name]) => join(folder, "node_modules", name));
}

/** The content of a JSON file, or `undefined` when it is absent or damaged. */
function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}
