// Checks the required Node version and the packages of the lock file.
// Plain JavaScript, because it runs before TypeScript can be loaded.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const OLDEST_NODE = [20, 19];
const EXACT_VERSION = /^\d+\.\d+\.\d+/;

/** The problem with this Node version, as a sentence; `undefined` if it is supported. */
export function nodeFault(version) {
  const [major, minor] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_NODE;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined;
  return `Mantel needs Node ${OLDEST_NODE.join(".")} or newer, but this is Node ${version}`;
}

/**
 * The missing packages below `root`: those in the lock file that npm's record of `node_modules` lacks, and those that
 * the repository's own packages depend on and cannot find. `dev` includes the dependencies of tests and checks.
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
