import { MantelError } from "@mantel/plugin-sdk/errors";
import semver from "semver";

const SDK = "@mantel/plugin-sdk";

/** Versions that a package is checked against. */
export interface HostVersions {
  readonly mantel: string;
  readonly sdk: string;
}

/** The parts of a `package.json` that say where the package runs. */
export interface Requirements {
  readonly engines?: Readonly<Record<string, string>> | undefined;
  readonly dependencies?: Readonly<Record<string, string>> | undefined;
  readonly peerDependencies?: Readonly<Record<string, string>> | undefined;
}

/**
 * Checks the version ranges that a plugin names for Mantel (`engines.mantel`), Node (`engines.node`) and the SDK.
 * @throws MantelError `install_failed`, with each range that does not fit
 */
export function assertCompatible(
  label: string,
  { engines = {}, dependencies = {}, peerDependencies = {} }: Requirements,
  versions: HostVersions,
): void {
  const wanted: [what: string, range: string | undefined, version: string][] = [
    ["Mantel", engines["mantel"], versions.mantel],
    ["Node", engines["node"], process.versions.node],
    [SDK, peerDependencies[SDK], versions.sdk],
    [SDK, dependencies[SDK], versions.sdk],
  ];
  const faults = wanted.flatMap(([what, range, version]) => {
    if (range === undefined || fits(version, range)) return [];
    if (semver.validRange(range) === null) return [`"${range}" for ${what} is not a version range`];
    return [`it needs ${what} ${range}, and this home has ${version}`];
  });
  if (faults.length === 0) return;
  throw new MantelError(
    "install_failed",
    `${label} does not run here: ${faults.join("; ")}. Choose another version of it, or update Mantel`,
  );
}

function fits(version: string, range: string): boolean {
  return semver.satisfies(version, range, { includePrerelease: true });
}
