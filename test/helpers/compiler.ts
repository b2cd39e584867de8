import { mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { type Bundle, Compiler } from "../../host/modules/build/compile.ts";
import { emptyFolder } from "./folder.ts";
import { onTestEnd } from "./on-test-end.ts";

/** A plugin's folder with an `index.ts`, and a compiler for it. Both are removed with the test. */
export async function openCompiler(
  t: TestContext,
  source = "export default 1;",
  { allowsLinks = () => false }: { readonly allowsLinks?: (id: string) => boolean } = {},
) {
  const home = await emptyFolder(t);
  const folder = join(home, "one");
  const cache = join(home, "cache");
  const write = async (file: string, text: string): Promise<void> => {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  };
  await write("index.ts", source);
  /** The compiler of the host's next start. */
  const restart = (): Compiler => {
    const next = new Compiler(cache, allowsLinks);
    onTestEnd(t, () => next.close());
    return next;
  };
  const compiler = restart();
  const compile = (): Promise<Bundle> => compiler.compile("one", folder, "index.ts");
  return { home, folder, cache, write, restart, compiler, compile };
}

/** The exports of a bundle. Its imports are those that `require` gives. */
export function run(file: string, require: (name: string) => unknown): Record<string, unknown> {
  type Wrapped = (require: (name: string) => unknown, module: object, exports: object) => void;
  const wrapped = createRequire(import.meta.url)(file) as Wrapped;
  const module = { exports: {} };
  wrapped(require, module, module.exports);
  return module.exports;
}
