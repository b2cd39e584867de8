import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** The digests of what passed a check before, in a file that may be deleted at any time. */
export class PassedChecks {
  readonly #file: string;
  readonly #digests: Map<string, string>;

  constructor(file: string) {
    this.#file = file;
    this.#digests = new Map(Object.entries(readDigests(file)));
  }

  has(name: string, digest: string): boolean {
    return this.#digests.get(name) === digest;
  }

  add(passed: Iterable<readonly [name: string, digest: string]>): void {
    for (const [name, digest] of passed) this.#digests.set(name, digest);
  }

  save(): void {
    mkdirSync(dirname(this.#file), { recursive: true });
    writeFileSync(this.#file, JSON.stringify(Object.fromEntries(this.#digests)));
  }
}

function readDigests(file: string): Record<string, string> {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Record<string, string>;
  } catch {
    return {}; // the first check, or one that was interrupted
  }
}
