import { existsSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { copyInto } from "./copy-into.ts";

/** The npm packages in a cache. */
const PACKAGES = ["vendor", "compiled"];

/**
 * Gives a new data folder the build cache that the run of the tests has prepared, if there is one; on request without
 * npm packages.
 */
export async function copyWarmCache(
  dataFolder: string,
  { hasPackages }: { readonly hasPackages: boolean },
): Promise<void> {
  const cache = process.env["TEST_CACHE"];
  const own = join(dataFolder, "cache");
  if (cache === undefined || !existsSync(cache) || existsSync(own)) return; // another run may have replaced it
  const names = (await readdir(cache)).filter((name) => hasPackages || !PACKAGES.includes(name));
  await mkdir(own);
  await copyInto(
    own,
    names.map((name) => join(cache, name)),
  );
}
