import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { join, relative } from "node:path";

type Sources = ReadonlyMap<string, string>;

const SDK = "@mantel/plugin-sdk";
const require = createRequire(import.meta.url);
const ROOT = join(import.meta.dirname, "../..");

/** The word before the specifier of an import, with types and without. */
const IMPORT = /\b(?:from|import|require)\b[\s(]*["']([^"'\n]+)["']/g;
/** Files that may change the types of all others, or what is checked. */
const FOR_ALL = /\.d\.ts$|(?:^|\/)(?:tsconfig|package|package-lock)\.json$|^\.ci\//;

export function digestOf(texts: Iterable<string>): string {
  const hash = createHash("sha256");
  for (const text of texts) hash.update(text).update("\0");
  return hash.digest("base64");
}

/** A digest of each code file with all files that it imports, directly or not: equal ones have equal faults. */
export function digestsWithImports(sources: Sources): ReadonlyMap<string, string> {
  const common = digestOf([...sources].filter(([path]) => FOR_ALL.test(path)).flat());
  const own = new Map([...sources].map(([path, text]) => [path, digestOf([path, text])]));
  const imports = new Map(
    [...sources].map(([path, text]) => [path, /\.[jt]s$/.test(path) ? importsOf(path, text) : []]),
  );
  const code = [...sources.keys()].filter((path) => /\.[jt]s$/.test(path));
  return new Map(
    code.map((path) => {
      const reached = new Set([path]);
      for (const each of reached) for (const other of imports.get(each) ?? []) reached.add(other);
      const digests = [...reached].toSorted().map((each) => own.get(each) ?? each);
      return [path, digestOf([common, ...digests])];
    }),
  );
}

/** The files that a file may import. A package of npm is not among them: its version is in the lockfile. */
function importsOf(path: string, text: string): readonly string[] {
  return Array.from(text.matchAll(IMPORT)).flatMap(([, specifier = ""]) => {
    if (specifier.startsWith(".")) return [join(path, "..", specifier)];
    if (!specifier.startsWith("@mantel/")) return [];
    const file = resolved(specifier);
    // The dashboard's compiler takes another file for the whole SDK than the server's.
    return [file, ...(specifier === SDK ? ["plugin-sdk/shared.ts"] : [])];
  });
}

const known = new Map<string, string>();

function resolved(specifier: string): string {
  const file = known.get(specifier) ?? resolve(specifier);
  known.set(specifier, file);
  return file;
}

function resolve(specifier: string): string {
  try {
    return relative(ROOT, require.resolve(specifier));
  } catch {
    return specifier; // in a text of a test
  }
}
