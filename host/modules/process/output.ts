import type { Readable } from "node:stream";
import { type Bounds, ThrottledReader } from "./throttled-reader.ts";

/** The limits of output, which is user-facing; the rest of a longer line is skipped. */
const BOUNDS: Bounds = { longest: 16_384, linesPerSecond: 5_000, bytesPerSecond: 4 * 2 ** 20 };
const TAIL_LINES = 30;

/** The standard output or standard error of a process, throttled. */
export class Output {
  readonly #reader: ThrottledReader;
  readonly #lastLines: string[] = [];

  constructor(stream: Readable, printed: (line: string) => void) {
    this.#reader = new ThrottledReader(stream, BOUNDS, {
      onLine: ({ bytes }) => {
        const line = bytes.toString();
        this.#lastLines.push(line);
        if (this.#lastLines.length > TAIL_LINES) this.#lastLines.shift();
        printed(line);
      },
    });
  }

  get lastLines(): readonly string[] {
    return this.#lastLines;
  }

  /** True while more is written than the host reads, so that the writer is blocked. */
  get isHeldBack(): boolean {
    return this.#reader.isHeldBack;
  }

  /** Reads what the process wrote before it ended. */
  finish(): Promise<void> {
    return this.#reader.finish();
  }
}
