import { Buffer } from "node:buffer";
import type { Message } from "./wire.ts";

/** What one message may have, in bytes of UTF-8; reading more at once would hold up who reads it. */
export const LONGEST_MESSAGE = 8 * 2 ** 20;

const LINE_END = 10;

/** A line without its end. One that is not whole is the head of one too long, or a last one unended. */
export interface Line {
  readonly bytes: Buffer;
  readonly isWhole: boolean;
}

/**
 * Cuts a stream's chunks into lines. Of a line beyond `longest` bytes the head comes as soon as it is
 * known to be too long; the rest is passed over and never held.
 */
export class LineCutter {
  readonly #longest: number;
  #begun: Buffer[] = [];
  #length = 0;
  #isPassingOver = false;

  constructor(longest: number) {
    this.#longest = longest;
  }

  *cut(chunk: Buffer): Generator<Line> {
    for (let from = 0; from < chunk.length;) {
      const end = chunk.indexOf(LINE_END, from);
      this.#begin(chunk.subarray(from, end === -1 ? chunk.length : end));
      from = end === -1 ? chunk.length : end + 1;
      const isTooLong = this.#length > this.#longest;
      if (!this.#isPassingOver && (isTooLong || end !== -1)) yield this.#take(!isTooLong);
      this.#isPassingOver = end === -1 && (this.#isPassingOver || isTooLong);
    }
  }

  /** What came after the last line end, when the stream has ended. */
  *rest(): Generator<Line> {
    if (this.#length > 0) yield this.#take(false);
  }

  #begin(part: Buffer): void {
    if (this.#isPassingOver) return;
    this.#begun.push(part);
    this.#length += part.length;
  }

  #take(isWhole: boolean): Line {
    const [only = Buffer.alloc(0)] = this.#begun;
    const bytes = this.#begun.length === 1 ? only : Buffer.concat(this.#begun);
    this.#begun = [];
    this.#length = 0;
    return { bytes: bytes.subarray(0, this.#longest), isWhole };
  }
}

/**
 * A message as a line of its own.
 * @throws RangeError when it is longer than the other end reads
 */
export function toLine(message: Message): string {
  const text = JSON.stringify(message);
  const bytes = Buffer.byteLength(text);
  if (bytes <= LONGEST_MESSAGE) return `${text}\n`;
  const what = message.kind === "call" ? `the input of ${message.method}` : "the answer of a call";
  const [size, limit] = [bytes, LONGEST_MESSAGE].map((each) => (each / 2 ** 20).toFixed(1));
  throw new RangeError(`${what} has ${size} MiB, and ${limit} MiB is the limit: send less at once`);
}
