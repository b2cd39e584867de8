import { existsSync } from "node:fs";
import { cp } from "node:fs/promises";
import { basename, join } from "node:path";

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
  if (cache === undefined || existsSync(own)) return;
  const filter = (path: string) => hasPackages || !PACKAGES.includes(basename(path));
  await cp(cache, own, { recursive: true, filter });
}
