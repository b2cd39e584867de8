// node --import tsx --import @mantel/plugin-sdk/widget-testing/assets --test …: tests may import what the host makes part of
// a widget. A style sheet is its text, a CSS module its class names and text, an image a data: address, a font or
// WebAssembly its bytes. A hook of Node, in plain JavaScript because tsx does not reach it.

import { readFile } from "node:fs/promises";
import { register } from "node:module";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";

const IMAGES = {
  ".avif": "image/avif",
  ".gif": "image/gif",
  ".jpeg": "image/jpeg",
  ".jpg": "image/jpeg",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".webp": "image/webp",
};
const BYTES = [".otf", ".ttf", ".wasm", ".woff", ".woff2"];

if (isMainThread) register(import.meta.url);

/** @type {import("node:module").LoadHook} */
export async function load(url, context, nextLoad) {
  if (!url.startsWith("file:")) return nextLoad(url, context);
  const file = fileURLToPath(url);
  const ending = extname(file);
  const isKnown = ending === ".css" || Object.hasOwn(IMAGES, ending) || BYTES.includes(ending);
  if (!isKnown) return nextLoad(url, context);
  const source = sourceOf(file, ending, await readFile(file));
  return { format: "module", shortCircuit: true, source };
}

function sourceOf(file, ending, content) {
  const base64 = JSON.stringify(content.toString("base64"));
  if (Object.hasOwn(IMAGES, ending)) {
    return `export default "data:${IMAGES[ending]};base64," + ${base64};`;
  }
  if (ending !== ".css") return `export default new Uint8Array(Buffer.from(${base64}, "base64"));`;
  const text = JSON.stringify(content.toString());
  if (!file.endsWith(".module.css")) return `export default ${text};`;
  // The host gives each class a name of its own; here a class keeps its name.
  return `export const css = ${text}; export default new Proxy({}, { get: (_, name) => name });`;
}
