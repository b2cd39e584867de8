import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Declared } from "./manifest-rights.ts";
import { Manifest } from "./manifest.ts";
import { check } from "./validate.ts";

/**
 * The plugin under test with its manifest, from its `package.json` or the content of `mantel` in it. Absent means the
 * `package.json` of the folder in which the test runs; `undefined` if that file has no `mantel`.
 * @throws MantelError `invalid`
 */
export function declaredIn(given?: URL | object): Declared | undefined {
  const content = given instanceof URL ? mantelIn(given) : (given ?? mantelHere());
  if (content === undefined && given === undefined) return undefined;
  const manifest = check(Manifest, content, "the manifest");
  return { id: manifest.id, manifest };
}

function mantelHere(): unknown {
  const path = join(process.cwd(), "package.json");
  return existsSync(path) ? mantelIn(pathToFileURL(path)) : undefined;
}

function mantelIn(file: URL): unknown {
  return (JSON.parse(readFileSync(file, "utf8")) as { mantel?: unknown }).mantel;
}
