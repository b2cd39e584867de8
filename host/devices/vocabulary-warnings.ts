import type { Capabilities, DeviceDescription, DeviceKind } from "@mantel/plugin-sdk/device";
import { faultsOfVocabulary, isCanonicalName } from "@mantel/plugin-sdk/vocabulary";
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
    for (const { pointer, detail } of faultsOfVocabulary(kind, capabilities)) {
      this.#warn(module, kind, pointer.slice(1), detail);
    }
    for (const name of Object.keys(capabilities)) {
      if (!isCanonicalName(name)) this.#warn(module, kind, name, UNKNOWN);
    }
  }

  #warn(module: string, kind: DeviceKind, name: string, detail: string): void {
    const logged = this.#logged.get(module) ?? new Set();
    const key = `${kind} ${name}`;
    if (logged.has(key) || logged.size >= WARNINGS_PER_MODULE) return;
    this.#logged.set(module, logged.add(key));
    this.#log.warn("capability outside the vocabulary", { module, kind, name, detail });
  }
}

const UNKNOWN = 'is not a canonical name; put it under "extra"';
