import { Buffer } from "node:buffer";
import type { Message } from "./wire.ts";

/** The maximum size of a message, in bytes of UTF-8. Parsing a longer one would block the reader. */
export const LONGEST_MESSAGE = 8 * 2 ** 20;

const LINE_END = 10;

/** A line without its newline. `isWhole` is false for the beginning of a line that is too long and for an unfinished last line. */
export interface Line {
  readonly bytes: Buffer;
  readonly isWhole: boolean;
}

/**
 * Splits a stream's chunks into lines. For a line longer than `longest` bytes it yields the beginning as soon as
 * the limit is exceeded; the rest is skipped and never buffered.
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

  /** The text after the last newline. Call it when the stream has ended. */
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

/** The most bytes that one UTF-16 code unit has in UTF-8. */
const MOST_BYTES = 3;

/**
 * Encodes a message as one line. A long one is returned as bytes: measuring and writing a text encodes it twice.
 * @throws RangeError if it is longer than `LONGEST_MESSAGE`
 */
export function toLine(message: Message): string | Buffer {
  const text = JSON.stringify(message);
  if (text.length * MOST_BYTES <= LONGEST_MESSAGE) return `${text}\n`;
  const line = Buffer.from(`${text}\n`);
  const bytes = line.length - 1;
  if (bytes <= LONGEST_MESSAGE) return line;
  throw tooLong(message, bytes);
}

function tooLong(message: Message, bytes: number): RangeError {
  const what = message.kind === "call" ? `the input of ${message.method}` : "the answer of a call";
  const [size, limit] = [bytes, LONGEST_MESSAGE].map((each) => (each / 2 ** 20).toFixed(1));
  return new RangeError(`message too large: ${what} has ${size} MiB, the limit is ${limit} MiB`);
}

/** The call of a method with a list, whose answer the caller awaits. */
type ListCall = Extract<Message, { kind: "call" }> & {
  readonly call: number;
  readonly input: readonly unknown[];
};

/** Elements of a list that are encoded in one step. */
const IN_A_STEP = 20;

/** True for a call with a list that takes long to encode, such as all devices of a large bridge. */
export const isLongList = (message: Message): message is ListCall =>
  message.kind === "call" &&
  message.call !== undefined &&
  Array.isArray(message.input) &&
  message.input.length > 10 * IN_A_STEP;

/**
 * Encodes a call like `toLine`, in steps of some elements each, so that other work can run at each `yield`.
 * @throws RangeError if it is longer than `LONGEST_MESSAGE`; TypeError if it is not JSON
 */
export function* listToLine(message: ListCall): Generator<undefined, Buffer> {
  const { input, ...rest } = message;
  const pieces = [Buffer.from(`${JSON.stringify(rest).slice(0, -1)},"input":[`)];
  for (let at = 0; at < input.length; at += IN_A_STEP) {
    const text = JSON.stringify(input.slice(at, at + IN_A_STEP)).slice(1, -1);
    pieces.push(Buffer.from(at === 0 ? text : `,${text}`));
    yield;
  }
  const line = Buffer.concat([...pieces, Buffer.from("]}\n")]);
  if (line.length - 1 > LONGEST_MESSAGE) throw tooLong(message, line.length - 1);
  return line;
}
