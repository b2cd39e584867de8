import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { type Static, Type } from "typebox";
import { runNpm } from "../npm-process.ts";
import { faultsOf } from "../validate.ts";
import { formatSource, type PackageSource } from "./source.ts";

/** The keyword by which plugins are found in a registry. */
const KEYWORD = "mantel-plugin";

const FETCH_DEADLINE_MS = 3 * 60_000;
const LOOKUP_DEADLINE_MS = 20_000;
/** The largest file that npm may write while it fetches; a git repository is fetched whole. */
const MAX_FETCHED_FILE_BYTES = 256 * 2 ** 20;
const SEARCH_LIMIT = 50;
const MAX_TEXT = 500;
const COMMON = ["--json", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
/** One more try, and a bound on silence; npm's own are two tries and five minutes. */
const NETWORK = [
  "--prefer-online",
  "--fetch-retries=1",
  "--fetch-retry-mintimeout=1000",
  "--fetch-timeout=15000",
];

/** A package that a search found. */
export interface FoundPackage {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly publisher: string | null;
  readonly date: string | null;
}

/**
 * Fetches the package archive of a source into `folder`, which must be empty, through npm and its configuration
 * (registry, tokens, proxies). Runs no scripts of the package. Returns the path of the archive.
 * @throws MantelError `registry_down` if the source cannot be reached; `install_failed` with npm's reason
 */
export async function fetchArchive(
  source: PackageSource,
  folder: string,
  signal?: AbortSignal,
): Promise<string> {
  const spec = source.kind === "folder" ? `file:${source.path}` : formatSource(source);
  const args = ["pack", ...COMMON, ...NETWORK, "--pack-destination=.", "--", spec];
  const { code, output } = await runNpm(folder, args, {
    timeoutMs: FETCH_DEADLINE_MS,
    maxFileBytes: MAX_FETCHED_FILE_BYTES,
    signal,
  });
  if (code !== 0) throw failureOf(output, formatSource(source));
  const [archive, ...others] = (await readdir(folder)).filter((name) => name.endsWith(".tgz"));
  if (archive !== undefined && others.length === 0) return join(folder, archive);
  throw new MantelError(
    "install_failed",
    `npm did not give one archive for ${formatSource(source)}`,
  );
}

/** The newest version of a package in npm's registry. @throws MantelError `registry_down`, `install_failed` */
export async function newestVersion(
  source: PackageSource & { readonly kind: "npm" },
  folder: string,
  signal?: AbortSignal,
): Promise<string> {
  const args = ["view", ...COMMON, ...NETWORK, "--", source.name, "version"];
  const { code, output } = await runNpm(folder, args, { timeoutMs: LOOKUP_DEADLINE_MS, signal });
  if (code !== 0) throw failureOf(output, source.name);
  const version = parse(output);
  if (typeof version === "string" && version.length <= 100) return version;
  throw new MantelError("install_failed", `the registry names no version of ${source.name}`);
}

const Result = Type.Object({
  name: Type.String(),
  version: Type.Optional(Type.String()),
  /** Verdaccio gives these instead of the version. */
  "dist-tags": Type.Optional(Type.Object({ latest: Type.Optional(Type.String()) })),
  description: Type.Optional(Type.String()),
  keywords: Type.Optional(Type.Array(Type.String())),
  date: Type.Optional(Type.String()),
  publisher: Type.Optional(Type.Object({ username: Type.Optional(Type.String()) })),
});
type Result = Static<typeof Result>;

/**
 * Searches npm's registry for plugins: packages with the keyword `mantel-plugin`.
 * @throws MantelError `registry_down`, `install_failed`
 */
export async function searchPackages(
  text: string,
  folder: string,
  signal?: AbortSignal,
): Promise<FoundPackage[]> {
  const words = text.split(/\s+/).filter((word) => word !== "");
  const found = await search([`keywords:${KEYWORD}`, ...words], folder, signal);
  // Registries of one's own, such as Verdaccio, look for the words and know no qualifiers.
  return found.length > 0 ? found : search(words.length > 0 ? words : [KEYWORD], folder, signal);
}

async function search(
  words: readonly string[],
  folder: string,
  signal: AbortSignal | undefined,
): Promise<FoundPackage[]> {
  const args = ["search", ...COMMON, ...NETWORK, `--searchlimit=${SEARCH_LIMIT}`, "--", ...words];
  const { code, output } = await runNpm(folder, args, { timeoutMs: LOOKUP_DEADLINE_MS, signal });
  if (code !== 0) throw failureOf(output, "the search");
  const results = parse(output);
  const isResult = (each: unknown): each is Result => faultsOf(Result, each).length === 0;
  const valid = Array.isArray(results) ? results.filter(isResult) : [];
  return valid
    .filter(({ keywords = [] }) => keywords.includes(KEYWORD))
    .map(({ name, version, description = "", date, publisher, ...others }) => ({
      name: name.slice(0, MAX_TEXT),
      version: (version ?? others["dist-tags"]?.latest ?? "").slice(0, MAX_TEXT),
      description: description.slice(0, MAX_TEXT),
      publisher: publisher?.username?.slice(0, MAX_TEXT) ?? null,
      date: date?.slice(0, MAX_TEXT) ?? null,
    }));
}

/** npm's codes for a server that cannot be reached, or does not answer as a registry. */
const UNREACHABLE =
  /^(ECONN\w*|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ERR_SOCKET_TIMEOUT|EHOSTUNREACH|ENETUNREACH|EPROTO|FETCH_ERROR|E5\d\d|E429|.*CERT.*|.*SIGNED.*)$/;

/** Sentences for npm's codes of packages that cannot be fetched. */
const REFUSED: ReadonlyMap<string, (what: string) => string> = new Map([
  ["E404", (what) => `${what} does not exist, or needs a login in .npmrc`],
  ["ETARGET", (what) => `${what} has no such version`],
  [
    "EINTEGRITY",
    (what) => `the content of ${what} does not match the hash that its registry names`,
  ],
]);

/** The error for npm's answer, which it prints as JSON. */
function failureOf(output: string, what: string): MantelError {
  const answer = parse(output) as { error?: { code?: string; summary?: string } } | undefined;
  const { code = "", summary = "" } = answer?.error ?? {};
  const [reason = ""] = String(summary).slice(0, MAX_TEXT).split("\n");
  if (code === "") {
    return new MantelError("registry_down", `npm did not answer in time for ${what}`);
  }
  if (UNREACHABLE.test(code)) {
    const hint = / reason: Unexpected token '?</.test(reason)
      ? " (it answered with a web page)"
      : "";
    return new MantelError(
      "registry_down",
      `the source of ${what} cannot be used${hint}: ${reason}; check npm's registry setting and the network`,
    );
  }
  const sentence = REFUSED.get(code)?.(what) ?? `npm could not fetch ${what}: ${reason || code}`;
  return new MantelError("install_failed", sentence);
}

function parse(output: string): unknown {
  try {
    return JSON.parse(output) as unknown;
  } catch {
    return undefined;
  }
}
