import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { MantelError } from "@mantel/plugin-sdk/errors";
import semver from "semver";

const SDK = "@mantel/plugin-sdk";
/** npm works here, beside `node_modules`, so that what is there stays whole until all is ready. */
const STAGING = ".mantel-install";
const DEADLINE_MS = 5 * 60_000;
const LAST_LINES = 5;

type Dependencies = Readonly<Record<string, string>>;

/**
 * Installs the npm packages that a plugin's `package.json` asks for and that its folder cannot find,
 * without install scripts. The SDK is the host's own and is never installed.
 *
 * @throws MantelError `reload_failed` with npm's last words; what was installed before is untouched
 */
export async function installMissing(
  folder: string,
  say: (sentence: string) => void,
): Promise<void> {
  const dependencies = await dependenciesOf(folder);
  const missing: string[] = [];
  for (const [name, wanted] of Object.entries(dependencies)) {
    if (!(await isInstalled(folder, name, wanted))) missing.push(`${name}@${wanted}`);
  }
  if (missing.length === 0) return;
  say(`installing ${missing.join(", ")}`);
  const staging = join(folder, STAGING);
  try {
    await rm(staging, { recursive: true, force: true });
    await mkdir(staging);
    await writeFile(join(staging, "package.json"), JSON.stringify({ private: true, dependencies }));
    await runNpm(staging, say);
    await rm(join(folder, "node_modules"), { recursive: true, force: true });
    await rename(join(staging, "node_modules"), join(folder, "node_modules"));
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  say("the packages are installed");
}

async function dependenciesOf(folder: string): Promise<Dependencies> {
  const { dependencies = {} } = await readPackage(folder);
  return Object.fromEntries(
    Object.entries(dependencies)
      .filter(([name]) => name !== SDK)
      .map(([name, wanted]) => [name, wanted.replace(/^file:/, () => `file:${folder}/`)]),
  );
}

async function isInstalled(folder: string, name: string, wanted: string): Promise<boolean> {
  for (let place = folder; ; place = dirname(place)) {
    const found = join(place, "node_modules", name);
    if (existsSync(join(found, "package.json"))) {
      const { version = "" } = await readPackage(found);
      return semver.validRange(wanted) === null || semver.satisfies(version, wanted);
    }
    if (place === dirname(place)) return false;
  }
}

async function readPackage(
  folder: string,
): Promise<{ version?: string; dependencies?: Dependencies }> {
  const text = await readFile(join(folder, "package.json"), "utf8");
  return JSON.parse(text) as { version?: string; dependencies?: Dependencies };
}

async function runNpm(folder: string, say: (sentence: string) => void): Promise<void> {
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--omit=dev", "--install-links"];
  const npm = spawn("npm", ["install", ...flags], {
    cwd: resolve(folder),
    stdio: ["ignore", "pipe", "pipe"],
    timeout: DEADLINE_MS,
  });
  const lines: string[] = [];
  for (const stream of [npm.stdout, npm.stderr]) {
    createInterface({ input: stream }).on("line", (line) => {
      if (line.trim() !== "") lines.push(line);
      if (line.startsWith("added ")) say(line);
    });
  }
  const code = await new Promise<number | null>((done) => {
    npm.once("error", () => done(null));
    npm.once("close", done);
  });
  if (code === 0) return;
  const words = lines.filter((line) => !line.includes(" warn ")).slice(0, LAST_LINES);
  throw new MantelError("reload_failed", `npm could not install the packages: ${words.join("; ")}`);
}
