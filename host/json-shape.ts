const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
/** The only bit in which brackets and braces differ. */
const BRACE_BIT = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;
/** Up to this many bytes a loop is faster than a search; beyond that a search is a hundred times faster. */
const NEAR = 32;

/**
 * Counts the cost of parsing a JSON text, without parsing it, as its bytes arrive. Text that is not JSON
 * has counts too: those of the part that a parser would read, or more.
 */
export class JsonShape {
  #open = 0;
  #depth = 0;
  #values = 1;
  #members = 0;
  #isInText = false;
  /** 1 if the first byte of the next chunk is escaped. */
  #skipped = 0;

  /** The deepest nesting of arrays and objects. */
  get depth(): number {
    return this.#depth;
  }

  /** The number of values without keys; at least as many as there are. */
  get values(): number {
    return this.#values;
  }

  /** Pairs of key and value in all objects; repeated keys count again. */
  get members(): number {
    return this.#members;
  }

  /** Counts the next bytes. */
  add(json: Buffer): this {
    for (
      let at = this.#isInText ? this.#skipText(json, this.#skipped) : 0;
      at < json.length;
      at++
    ) {
      const byte = json[at] ?? 0;
      if (byte === QUOTE) at = this.#skipText(json, at + 1) - 1;
      else if (byte === COMMA) this.#values++;
      else if (byte === COLON) this.#members++;
      else if ((byte | BRACE_BIT) === OPENING) {
        this.#values++;
        this.#open++;
        if (this.#open > this.#depth) this.#depth = this.#open;
      } else if ((byte | BRACE_BIT) === CLOSING) this.#open--;
    }
    return this;
  }

  /** The first byte after the string that contains `from`. */
  #skipText(json: Buffer, from: number): number {
    const end = endOfText(json, from);
    this.#isInText = end >= json.length;
    this.#skipped = end - json.length;
    return end + 1;
  }
}

/**
 * The end of the string that contains `from`: its quotation mark or, if it does not end here, the index after the
 * bytes, plus one if the next byte would be escaped.
 */
export function endOfText(json: Buffer, from: number): number {
  let at = from;
  for (;;) {
    const near = Math.min(at + NEAR, json.length);
    while (at < near && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
    if (at < near || at >= json.length) return at;
    const quote = json.indexOf(QUOTE, at);
    const end = quote === -1 ? json.length : quote;
    if (!isEscaped(json, at, end)) return end;
    at = end + 1;
  }
}

/** True if `end` follows an odd number of backslashes, none of which is before `from`. */
function isEscaped(json: Buffer, from: number, end: number): boolean {
  let at = end;
  while (at > from && json[at - 1] === BACKSLASH) at--;
  return (end - at) % 2 === 1;
}
