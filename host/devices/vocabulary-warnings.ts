import type { Capabilities, DeviceDescription, DeviceKind } from "@mantel/plugin-sdk/device";
import { isCanonicalName, missingCapabilities } from "@mantel/plugin-sdk/vocabulary";
import type { HostLog } from "../log.ts";

/** The most warnings for one module; a faulty bridge may invent names. */
const WARNINGS_PER_MODULE = 100;

/**
 * Logs capability names that are outside the vocabulary, once for each module, kind and name, and devices without a
 * required capability of their kind.
 */
export class VocabularyWarnings {
  readonly #log: HostLog;
  /** The logged warnings of each module. */
  readonly #logged = new Map<string, Set<string>>();

  constructor(log: HostLog) {
    this.#log = log;
  }

  note(module: string, { nativeId, kind, capabilities, parts = [] }: DeviceDescription): void {
    this.#noteNames(module, kind, capabilities);
    // a device with parts may have nothing of its own
    if (parts.length === 0) this.#noteMissing(module, nativeId, { kind, capabilities });
    for (const part of parts) {
      this.#noteNames(module, part.kind, part.capabilities);
      this.#noteMissing(module, `${nativeId}/${part.id}`, part);
    }
  }

  #noteNames(module: string, kind: DeviceKind, capabilities: Capabilities): void {
    for (const name of Object.keys(capabilities)) {
      if (isCanonicalName(name) || !this.#isNew(module, `${kind} ${name}`)) continue;
      const detail = 'is not a canonical name; put it under "extra"';
      this.#log.warn("capability outside the vocabulary", { module, kind, name, detail });
    }
  }

  #noteMissing(
    module: string,
    device: string,
    { kind, capabilities }: Pick<DeviceDescription, "kind" | "capabilities">,
  ): void {
    for (const name of missingCapabilities(kind, capabilities)) {
      if (!this.#isNew(module, `${kind} ${name} ${device}`)) continue;
      const detail = `every ${kind} has it; publish it, or choose another kind`;
      this.#log.warn("required capability missing", { module, device, kind, name, detail });
    }
  }

  /** True for the first warning of this key, if the module has not had too many. */
  #isNew(module: string, key: string): boolean {
    const logged = this.#logged.get(module) ?? new Set();
    if (logged.has(key) || logged.size >= WARNINGS_PER_MODULE) return false;
    this.#logged.set(module, logged.add(key));
    return true;
  }
}
