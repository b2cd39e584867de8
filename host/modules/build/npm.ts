import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { environmentOfNpm } from "../../environment.ts";

const FLAGS = ["--ignore-scripts", "--no-audit", "--no-fund", "--omit=dev", "--install-links"];
const INSTALL_DEADLINE_MS = 5 * 60_000;
/** npm first asks a separate server (TUF) for the valid keys; that server may be unreachable. */
const VERIFY_DEADLINE_MS = 20_000;
const LAST_LINES = 5;

/** The result of an npm process. */
interface Ended {
  /** Null if it could not be started or was killed at its deadline. */
  readonly code: number | null;
  readonly lines: readonly string[];
}

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
): Promise<string | undefined> {
  let count = 0;
  const args = ["install", ...FLAGS, "--loglevel=http"];
  const heard = (line: string): void => {
    if (/ fetch GET 200 .*\.tgz /.test(line)) fetched(++count);
  };
  const { code, lines } = await npm(folder, args, { timeout: INSTALL_DEADLINE_MS, heard });
  if (code === 0) return undefined;
  const words = lines.filter((line) => !/^npm (warn|http) /.test(line)).slice(0, LAST_LINES);
  return words.join("; ");
}

/** Verifies the registry signatures of the packages installed in `folder`. */
export async function verifySignatures(folder: string): Promise<Signatures> {
  const args = ["audit", "signatures", "--json", "--fetch-retries=0", "--fetch-timeout=10000"];
  const { lines } = await npm(folder, args, { timeout: VERIFY_DEADLINE_MS });
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

async function npm(
  folder: string,
  args: readonly string[],
  { timeout, heard }: { timeout: number; heard?: (line: string) => void },
): Promise<Ended> {
  const child = spawn("npm", args, {
    cwd: folder,
    env: environmentOfNpm(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => {
      if (line.trim() === "") return;
      lines.push(line);
      heard?.(line);
    });
  }
  const deadline = setTimeout(() => child.kill(), timeout); // spawn's own outlives a failed start
  const code = await new Promise<number | null>((done) => {
    child.once("error", () => done(null));
    child.once("close", done);
  });
  clearTimeout(deadline);
  return { code, lines };
}
