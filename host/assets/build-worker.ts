import { createHash } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Metafile } from "esbuild";
import { buildOnce as bundle } from "../build-service.ts";

/** The path of the service worker. It is at the root, because a worker serves the pages below its own path. */
export const WORKER = "/service-worker.js";

const FOLDER = fileURLToPath(new URL("../dashboard/offline/", import.meta.url));

/**
 * Builds the service worker of a shell with these files. The script begins with their list, so that browsers see a new
 * worker with each new build.
 */
export async function buildWorker(
  files: readonly string[],
): Promise<{ script: Buffer; inputs: Metafile["inputs"] }> {
  const built = await bundle({
    absWorkingDir: FOLDER,
    entryPoints: [join(FOLDER, "service-worker.ts")],
    write: false,
    bundle: true,
    minify: true,
    format: "iife",
    platform: "browser",
    target: "es2022",
    metafile: true,
    legalComments: "none",
    logLevel: "silent",
  });
  const id = createHash("sha256").update(files.join()).digest("hex").slice(0, 16);
  const code = built.outputFiles[0]?.text ?? "";
  const script = `const MANTEL_BUILD=${JSON.stringify({ id, files })};${code}`;
  return { script: Buffer.from(script), inputs: built.metafile.inputs };
}
