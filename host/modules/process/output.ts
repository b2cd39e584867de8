import type { Readable } from "node:stream";
import { type Bounds, Intake } from "./intake.ts";

/** A line for people; what follows is passed over. */
const BOUNDS: Bounds = { longest: 16_384, linesPerSecond: 5_000, bytesPerSecond: 4 * 2 ** 20 };
const TAIL_LINES = 30;

/** What a process writes to standard output or standard error, without control over how much. */
export class Output {
  readonly #intake: Intake;
  readonly #lastLines: string[] = [];

  constructor(stream: Readable, printed: (line: string) => void) {
    this.#intake = new Intake(stream, BOUNDS, {
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

  /** True while more is written than the host reads, so that the writer is kept waiting. */
  get isHeldBack(): boolean {
    return this.#intake.isHeldBack;
  }

  /** Reads what the process left when it ended. */
  finish(): void {
    this.#intake.finish();
  }
}
