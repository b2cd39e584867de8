import type { Cause } from "@mantel/plugin-sdk/cause";

/** Causes that are remembered of each module. Most repeat, such as those of devices. */
const MOST = 2_000;

/** The causes that the host has sent to each module, so that none can be made up. */
export class SentCauses {
  /** By module id; causes as JSON, the newest last. */
  readonly #sent = new Map<string, Set<string>>();

  note(module: string, cause: Cause): void {
    const sent = this.#sent.get(module) ?? new Set();
    const text = textOf(cause);
    sent.delete(text);
    sent.add(text);
    const [oldest] = sent;
    if (sent.size > MOST && oldest !== undefined) sent.delete(oldest);
    this.#sent.set(module, sent);
  }

  has(module: string, cause: Cause): boolean {
    return this.#sent.get(module)?.has(textOf(cause)) === true;
  }
}

/** The fields in one order, whatever order they come in, without the instants, which differ each time. */
function textOf({ kind, id, name, what, parent }: Cause): string {
  const values = Object.entries(what?.values ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([kind, id, name, what?.type, values, parent && textOf(parent)]);
}
