import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Strict } from "@mantel/plugin-sdk/schema";
import { TRIALS } from "@mantel/plugin-sdk/trial";
import { type Static, Type } from "typebox";
import { check } from "../../validate.ts";
import { hashOf } from "../build/code-hash.ts";
import type { Build } from "../versions/version.ts";

const Declaration = Type.Object(
  {
    /** The schema of the options, which was checked when it was stored. */
    options: Type.Optional(Type.Unknown()),
    trials: Type.Array(Type.Enum([...TRIALS])),
  },
  Strict,
);
export type Declaration = Static<typeof Declaration>;

const Stored = Type.Object({ key: Type.String(), declaration: Declaration }, Strict);

/**
 * The declarations of plugins that were loaded and not started, because they are not configured: the settings show
 * them. A start of the host reads them from `<cache>/modules/<id>/declaration.json` and needs no process for them.
 */
export class Declarations {
  readonly #cacheFolder: string;
  readonly #runtime: () => string;

  /** `runtime` is the path of the code that loads plugins; it changes with that code. */
  constructor(cacheFolder: string, runtime: () => string) {
    this.#cacheFolder = cacheFolder;
    this.#runtime = runtime;
  }

  /** The declaration of this build; `undefined` if it has to be loaded. A damaged record counts as missing. */
  async find(build: Build): Promise<Declaration | undefined> {
    try {
      const text = await readFile(this.#pathOf(build), "utf8");
      const { key, declaration } = check(Stored, JSON.parse(text), "the stored declaration");
      return key === this.#keyOf(build) ? declaration : undefined;
    } catch {
      return undefined;
    }
  }

  async keep(build: Build, declaration: Declaration): Promise<void> {
    const path = this.#pathOf(build);
    await mkdir(dirname(path), { recursive: true })
      .then(() => writeFile(path, JSON.stringify({ key: this.#keyOf(build), declaration })))
      .catch(() => undefined); // the next start loads it again
  }

  #pathOf({ plugin }: Build): string {
    return join(this.#cacheFolder, "modules", plugin.id, "declaration.json");
  }

  #keyOf({ hash, plugin }: Build): string {
    return hashOf(JSON.stringify([hash, plugin.manifest, basename(this.#runtime())]));
  }
}
