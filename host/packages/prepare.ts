import { mkdir, readFile, realpath, rm } from "node:fs/promises";
import { isAbsolute, join, resolve, sep } from "node:path";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { type Static, Type } from "typebox";
import { installOwn } from "../modules/build/install.ts";
import { type PluginPackage, readManifest } from "../modules/manifest/manifest.ts";
import { check } from "../validate.ts";
import { readArchive } from "./archive.ts";
import { assertCompatible, type HostVersions } from "./compatibility.ts";
import type { OperationContext } from "./operations.ts";
import { fetchArchive } from "./registry.ts";
import { formatSource, type PackageSource } from "./source.ts";
import { integrityOf, settleFolder, stagingName, writeArchive } from "./stage.ts";

const Ranges = Type.Optional(Type.Record(Type.String(), Type.String()));
const PackageFile = Type.Object({
  name: Type.Optional(Type.String({ maxLength: 214 })),
  engines: Ranges,
  dependencies: Ranges,
  peerDependencies: Ranges,
});
type PackageFile = Static<typeof PackageFile>;

/** A package that is checked, complete and on disk, and is not used yet. */
export interface PreparedPackage {
  readonly plugin: PluginPackage;
  readonly name: string;
  readonly integrity: string | null;
  /** Its folder: in a staging folder, or the linked one. */
  readonly folder: string;
}

export interface PrepareOptions {
  /** The folder of all packages. */
  readonly root: string;
  readonly versions: HostVersions;
  readonly source: PackageSource;
  /** Dependencies whose install scripts may run. */
  readonly scripts: readonly string[];
  readonly context: OperationContext;
  /** Called with the integrity before anything is unpacked. True if that is already installed. */
  readonly isInstalled: (integrity: string) => boolean;
}

/**
 * Fetches a package, checks it, installs its dependencies and makes it survive a power cut, all in a staging folder
 * that `use` gets; the folder is removed afterwards, as far as `use` has not moved it. Resolves to `undefined` if it
 * is already installed.
 * @throws MantelError `install_failed`, `registry_down`, `invalid`, `disk_full`
 */
export async function withPrepared<T>(
  options: PrepareOptions,
  use: (prepared: PreparedPackage) => Promise<T>,
): Promise<T | undefined> {
  const { source, root } = options;
  if (source.kind === "link") return use(await prepareLink(source.path, options.versions));
  const staging = join(root, stagingName());
  try {
    await mkdir(join(staging, "fetched"), { recursive: true, mode: 0o700 });
    const prepared = await prepare(staging, options);
    return prepared && (await use(prepared));
  } catch (error) {
    throw asInstallFailure(error);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function prepare(
  staging: string,
  { source, scripts, context, versions, isInstalled }: PrepareOptions,
): Promise<PreparedPackage | undefined> {
  const { step, signal } = context;
  step(`fetching ${formatSource(source)}`);
  const archive = await fetchArchive(source, join(staging, "fetched"), signal);
  const integrity = await integrityOf(archive);
  if (isInstalled(integrity)) return undefined;
  step("checking the package");
  const files = await readArchive(archive);
  const folder = join(staging, "package");
  await writeArchive(folder, files);
  const checked = await examine(folder, versions);
  await installOwn(folder, scripts, {
    progress: (sentence) => step(sentence ?? "dependencies installed"),
    warn: (sentence) => step(sentence),
    signal,
  });
  if (signal.aborted) throw new MantelError("install_failed", "the host stops");
  step("writing it to the disk");
  await settleFolder(folder);
  return { ...checked, integrity, folder };
}

async function prepareLink(path: string, versions: HostVersions): Promise<PreparedPackage> {
  const folder = await realpath(path).catch(() => {
    throw new MantelError("invalid", `the folder ${path} does not exist`);
  });
  return { ...(await examine(folder, versions)), integrity: null, folder };
}

/** Checks the manifest and the requirements of a package in a folder. @throws MantelError `install_failed` */
async function examine(
  folder: string,
  versions: HostVersions,
): Promise<Pick<PreparedPackage, "plugin" | "name">> {
  const plugin = await readManifest(folder).catch((error: Error) => {
    throw new MantelError("install_failed", sentenceOf(error, folder), { cause: error });
  });
  const content = await readPackageFile(folder);
  const name = content.name ?? plugin.id;
  assertCompatible(`${name} ${plugin.version}`, content, versions);
  for (const [dependency, range] of Object.entries(content.dependencies ?? {})) {
    if (leadsOut(folder, range)) {
      throw new MantelError(
        "install_failed",
        `the dependency ${dependency} ("${range}") is outside the package; publish it, or put it into the package`,
      );
    }
  }
  return { plugin, name };
}

async function readPackageFile(folder: string): Promise<PackageFile> {
  const text = await readFile(join(folder, "package.json"), "utf8");
  return check(PackageFile, JSON.parse(text), "package.json");
}

function sentenceOf(error: Error, folder: string): string {
  if ((error as NodeJS.ErrnoException).code === "ENOENT") return "the package has no package.json";
  return `this is not a plugin that Mantel can run: ${error.message.replaceAll(folder + sep, "")}`;
}

/** True for a dependency on a folder of this machine that does not belong to the package. */
function leadsOut(folder: string, range: string): boolean {
  const path =
    /^(?:file:|link:)(.*)$/.exec(range)?.[1] ?? (/^[./~]/.test(range) ? range : undefined);
  if (path === undefined) return false;
  return (
    isAbsolute(path) || path.startsWith("~") || !resolve(folder, path).startsWith(folder + sep)
  );
}

/** The error of an installation instead of that of a reload. */
function asInstallFailure(error: unknown): unknown {
  if (error instanceof MantelError) {
    return error.code === "reload_failed"
      ? new MantelError("install_failed", error.message, { cause: error })
      : error;
  }
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOSPC" || code === "EDQUOT") {
    return new MantelError("disk_full", "the disk is full; nothing was installed", {
      cause: error,
    });
  }
  return error;
}
