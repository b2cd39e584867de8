import { existsSync, realpathSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type { SourceChange, SourceFault } from "@mantel/plugin-sdk/sources";
import type { Plugin } from "esbuild";
import { build } from "../../build-service.ts";
import { hashOf } from "../build/code-hash.ts";
import { toReloadFailure } from "../build/compiler-errors.ts";

/** The module that the plugin provides. */
const PROVIDED = "mantel";
const LARGEST_CODE = 1_048_576;

/** A build of one file. */
export interface BuiltSource {
  readonly change: Extract<SourceChange, { kind: "compiled" | "faulty" }>;
  /** Absolute paths of the files that it was built from. */
  readonly inputs: ReadonlySet<string>;
}

/** Compiles one file of a folder with the files that it imports. Never rejects. */
export async function compileSource(folder: string, name: string): Promise<BuiltSource> {
  const inputs = new Set([join(folder, name)]);
  try {
    const { outputFiles } = await build({
      entryPoints: [join(folder, name)],
      outfile: join(folder, `${name}.js`),
      bundle: true,
      write: false,
      platform: "node",
      format: "cjs",
      target: "node20",
      sourcemap: "external",
      sourcesContent: false,
      logLevel: "silent",
      tsconfigRaw: {},
      plugins: [onlyOwnFiles(folder, inputs)],
    });
    const textOf = (ending: string) =>
      outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? "";
    const [code, map] = [textOf(".js"), textOf(".map")];
    if (code.length > LARGEST_CODE) return { change: tooLarge(name, code.length), inputs };
    return {
      change: { name, kind: "compiled", source: { hash: hashOf(code), code, map } },
      inputs,
    };
  } catch (error) {
    return { change: { name, kind: "faulty", fault: faultOf(error, folder) }, inputs };
  }
}

/** Refuses packages, and files outside the folder after resolving links: the host reads these files for a plugin. */
function onlyOwnFiles(folder: string, inputs: Set<string>): Plugin {
  return {
    name: "only-own-files",
    setup(on) {
      on.onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
        if (kind === "entry-point") return undefined;
        if (path === PROVIDED) return { path, external: true };
        const text = `${path} cannot be imported here; import "${PROVIDED}" and files of this folder only`;
        return { errors: [{ text }] };
      });
      on.onLoad({ filter: /.*/ }, ({ path }) => {
        inputs.add(path);
        if (isWithin(folder, path)) return undefined;
        return { errors: [{ text: `${relative(folder, path)} is outside the folder` }] };
      });
    },
  };
}

function isWithin(folder: string, path: string): boolean {
  return existsSync(path) && realpathSync(path).startsWith(realpathSync(folder) + sep);
}

function faultOf(error: unknown, folder: string): SourceFault {
  const { message, extras } = toReloadFailure(error, folder);
  return { message, ...extras.location };
}

function tooLarge(name: string, size: number): BuiltSource["change"] {
  const message = `the compiled code has ${size} characters; at most ${LARGEST_CODE} are allowed`;
  return { name, kind: "faulty", fault: { message, file: name } };
}
