import type { Capabilities, DeviceDescription, DeviceKind } from "@mantel/plugin-sdk/device";
import { isCanonicalName } from "@mantel/plugin-sdk/vocabulary";
import type { HostLog } from "../log.ts";

/** The most warnings for one module; a faulty bridge may invent names. */
const WARNINGS_PER_MODULE = 100;

/** Logs capability names that are outside the vocabulary, once for each module, kind and name. */
export class VocabularyWarnings {
  readonly #log: HostLog;
  /** The kinds and names that were logged, by module. */
  readonly #logged = new Map<string, Set<string>>();

  constructor(log: HostLog) {
    this.#log = log;
  }

  note(module: string, { kind, capabilities, parts = [] }: DeviceDescription): void {
    this.#noteNames(module, kind, capabilities);
    for (const part of parts) this.#noteNames(module, part.kind, part.capabilities);
  }

  #noteNames(module: string, kind: DeviceKind, capabilities: Capabilities): void {
    for (const name of Object.keys(capabilities)) {
      if (!isCanonicalName(name)) this.#warn(module, kind, name);
    }
  }

  #warn(module: string, kind: DeviceKind, name: string): void {
    const logged = this.#logged.get(module) ?? new Set();
    const key = `${kind} ${name}`;
    if (logged.has(key) || logged.size >= WARNINGS_PER_MODULE) return;
    this.#logged.set(module, logged.add(key));
    const detail = 'is not a canonical name; put it under "extra"';
    this.#log.warn("capability outside the vocabulary", { module, kind, name, detail });
  }
}
