import { runNpm } from "../../npm-process.ts";

const FLAGS = ["--ignore-scripts", "--no-audit", "--no-fund", "--omit=dev", "--install-links"];
const INSTALL_DEADLINE_MS = 5 * 60_000;
/** npm first asks a separate server (TUF) for the valid keys; that server may be unreachable. */
const VERIFY_DEADLINE_MS = 20_000;
const LAST_LINES = 5;

/** The result of verifying the registry's signatures of installed packages. */
export type Signatures =
  | { readonly is: "verified" }
  /** Packages without a signature, from a registry that signs packages. */
  | { readonly is: "missing"; readonly packages: readonly string[] }
  | { readonly is: "unknown"; readonly reason: string }
  /** Packages whose signature does not match their content. */
  | { readonly is: "invalid"; readonly packages: readonly string[] };

/**
 * Installs the dependencies of the `package.json` in `folder`, without install scripts; `fetched` is called
 * with the number of packages fetched so far. Returns npm's last error lines if it fails.
 */
export async function install(
  folder: string,
  fetched: (count: number) => void,
  signal?: AbortSignal,
): Promise<string | undefined> {
  let count = 0;
  const args = ["install", ...FLAGS, "--loglevel=http"];
  const heard = (line: string): void => {
    if (/ fetch GET 200 .*\.tgz /.test(line)) fetched(++count);
  };
  const { code, lines } = await runNpm(folder, args, {
    timeoutMs: INSTALL_DEADLINE_MS,
    heard,
    signal,
  });
  return code === 0 ? undefined : errorLines(lines);
}

/** Runs the install scripts of these installed packages. Returns npm's first error lines if one fails. */
export async function rebuild(
  folder: string,
  packages: readonly string[],
  signal?: AbortSignal,
): Promise<string | undefined> {
  const args = ["rebuild", "--ignore-scripts=false", "--", ...packages];
  const { code, lines } = await runNpm(folder, args, { timeoutMs: INSTALL_DEADLINE_MS, signal });
  return code === 0 ? undefined : errorLines(lines);
}

function errorLines(lines: readonly string[]): string {
  const words = lines.filter((line) => !/^npm (warn|http) /.test(line)).slice(0, LAST_LINES);
  return words.join("; ");
}

/** Verifies the registry signatures of the packages installed in `folder`. */
export async function verifySignatures(folder: string): Promise<Signatures> {
  const args = ["audit", "signatures", "--json", "--fetch-retries=0", "--fetch-timeout=10000"];
  const { lines } = await runNpm(folder, args, { timeoutMs: VERIFY_DEADLINE_MS });
  return readSignatures(lines.join("\n"));
}

interface Report {
  readonly invalid?: readonly Package[];
  readonly missing?: readonly Package[];
  readonly error?: { readonly summary?: string };
}
interface Package {
  readonly name: string;
  readonly version: string;
}

/** Parses the output of `npm audit signatures --json`, with the warnings around it. */
export function readSignatures(output: string): Signatures {
  const { invalid = [], missing = [], error } = parse(output);
  const named = (packages: readonly Package[]) =>
    packages.map(({ name, version }) => `${name}@${version}`);
  if (invalid.length > 0) return { is: "invalid", packages: named(invalid) };
  if (error) return { is: "unknown", reason: error.summary ?? "npm gave no reason" };
  return missing.length > 0 ? { is: "missing", packages: named(missing) } : { is: "verified" };
}

function parse(output: string): Report {
  const [json] = /^\{$[^]*^\}$/m.exec(output) ?? [];
  try {
    return JSON.parse(json ?? "") as Report;
  } catch {
    return { error: { summary: "npm did not answer in time" } };
  }
}
