import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { LogFields } from "@mantel/plugin-sdk";
import { MantelError } from "@mantel/plugin-sdk/errors";
import semver from "semver";
import { linkedPackage } from "../manifest/linked-packages.ts";
import { parseJson } from "../manifest/manifest.ts";
import { install, rebuild, verifySignatures } from "./npm.ts";

const SDK = "@mantel/plugin-sdk";
/** npm works in this folder, so that `node_modules` stays complete until the new one is ready. */
const STAGING = ".mantel-install";
const TELL_EVERY_MS = 2_000;

type Dependencies = Readonly<Record<string, string>>;

/** Receives the progress of an installation. */
export interface InstallProgress {
  /** The current step as a user-facing sentence; `undefined` when the installation is over. */
  readonly progress: (sentence: string | undefined) => void;
  readonly warn: (sentence: string, fields: LogFields) => void;
  /** Ends the installation early. */
  readonly signal?: AbortSignal;
}

/**
 * Installs the npm packages that a plugin's `package.json` names and that its folder does not have,
 * without install scripts. The SDK belongs to the host and is never installed.
 *
 * @throws MantelError `reload_failed` with npm's last error lines, or with the names of packages whose
 * registry signature is invalid; the packages installed before are unchanged
 */
export async function installMissing(folder: string, report: InstallProgress): Promise<void> {
  const dependencies = await dependenciesOf(folder);
  const missing: string[] = [];
  for (const [name, range] of Object.entries(dependencies)) {
    if (!(await isInstalled(folder, name, range))) missing.push(`${name}@${range}`);
  }
  if (missing.length > 0) await installInStaging(folder, { dependencies, missing, report });
}

/**
 * Installs all npm packages that a plugin names into its own folder, also those that a folder above has.
 * `scripts` are packages whose install scripts may run, with the rights of the user who runs Mantel.
 *
 * @throws MantelError `reload_failed` as `installMissing`
 */
export async function installOwn(
  folder: string,
  scripts: readonly string[],
  report: InstallProgress,
): Promise<void> {
  const dependencies = await dependenciesOf(folder);
  const missing = Object.entries(dependencies).map(([name, range]) => `${name}@${range}`);
  if (missing.length > 0)
    await installInStaging(folder, { dependencies, missing, scripts, report });
}

interface Work {
  readonly dependencies: Dependencies;
  /** Each with its range. */
  readonly missing: readonly string[];
  readonly scripts?: readonly string[];
  readonly report: InstallProgress;
}

async function installInStaging(
  folder: string,
  { dependencies, missing, scripts = [], report }: Work,
): Promise<void> {
  const staging = join(folder, STAGING);
  try {
    report.progress(`installing ${missing.join(", ")}`);
    await rm(staging, { recursive: true, force: true });
    await mkdir(staging);
    await writeFile(join(staging, "package.json"), JSON.stringify({ private: true, dependencies }));
    await installInto(staging, missing, report);
    if (scripts.length > 0) await runScripts(staging, scripts, report);
    await rm(join(folder, "node_modules"), { recursive: true, force: true });
    await rename(join(staging, "node_modules"), join(folder, "node_modules"));
  } finally {
    report.progress(undefined);
    await rm(staging, { recursive: true, force: true });
  }
}

async function runScripts(
  staging: string,
  scripts: readonly string[],
  report: InstallProgress,
): Promise<void> {
  report.progress(`running the install scripts of ${scripts.join(", ")}`);
  const lastWords = await rebuild(staging, scripts, report.signal);
  if (lastWords === undefined) return;
  throw new MantelError("reload_failed", `an install script failed: ${lastWords}`);
}

async function installInto(
  staging: string,
  missing: readonly string[],
  report: InstallProgress,
): Promise<void> {
  const names = missing.join(", ");
  let toldAt = performance.now();
  const fetched = (count: number): void => {
    if (performance.now() - toldAt < TELL_EVERY_MS) return;
    toldAt = performance.now();
    report.progress(`installing ${names}: ${count} packages fetched`);
  };
  const lastWords = await install(staging, fetched, report.signal);
  if (lastWords !== undefined) {
    throw new MantelError("reload_failed", `npm could not install the packages: ${lastWords}`);
  }
  if (missing.every((each) => each.includes("@file:"))) return; // packages from this machine have no signatures
  report.progress(`verifying the signatures of ${names}`);
  const signatures = await verifySignatures(staging);
  if (signatures.is === "invalid") {
    const detail = `invalid registry signature: ${signatures.packages.join(", ")}; nothing was run or kept`;
    throw new MantelError("reload_failed", detail);
  }
  if (signatures.is === "missing") {
    report.warn("packages have no registry signature", { packages: signatures.packages });
  }
  if (signatures.is === "unknown") {
    report.warn("could not verify the signatures of packages", { reason: signatures.reason });
  }
}

async function dependenciesOf(folder: string): Promise<Dependencies> {
  const { dependencies = {} } = await readPackage(folder);
  return Object.fromEntries(
    Object.entries(dependencies)
      .filter(([name]) => name !== SDK)
      .map(([name, range]) => [name, range.replace(/^file:/, () => `file:${folder}/`)]),
  );
}

async function isInstalled(folder: string, name: string, range: string): Promise<boolean> {
  for (let place = folder; ; place = dirname(place)) {
    if (linkedPackage(place, name) !== undefined) return true; // a linked package is never replaced
    const found = join(place, "node_modules", name);
    if (existsSync(join(found, "package.json"))) {
      const { version = "" } = await readPackage(found);
      return semver.validRange(range) === null || semver.satisfies(version, range);
    }
    if (place === dirname(place)) return false;
  }
}

async function readPackage(
  folder: string,
): Promise<{ version?: string; dependencies?: Dependencies }> {
  const file = join(folder, "package.json");
  return parseJson(await readFile(file, "utf8"), file) as {
    version?: string;
    dependencies?: Dependencies;
  };
}
