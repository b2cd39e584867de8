// Run before sources that are not bundled: style sheets imported by code become text, as in a bundle. A hook of Node,
// in plain JavaScript because tsx does not reach it.

import { readFile } from "node:fs/promises";
import { register } from "node:module";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";

if (isMainThread) register(import.meta.url);

/** @type {import("node:module").LoadHook} */
export async function load(url, context, nextLoad) {
  if (!url.endsWith(".css")) return nextLoad(url, context);
  const text = await readFile(fileURLToPath(url), "utf8");
  return { format: "module", shortCircuit: true, source: `export default ${JSON.stringify(text)}` };
}
