import { words } from "./words/shell.ts";

/** So long may a widget's loops keep the page from everything else. */
const LIMIT_MS = 1_000;
/** Loops whose passes are short look at the clock in one of so many at last, after each in the beginning. */
const SHORT_PASSES = 64;
/** A look that comes later than this after the one before is of long passes, or of other code in between. */
const LONG_MS = 5;
/** No more of the time between two looks is put down to the loops. */
const MOST_COUNTED_MS = 50;

/** Counts the turns of the page in which loops ran; what a loop keeps from coming is the message of the next. */
let turn = 0;
let turnEnds = false;

/**
 * Ends a widget whose loops do not come to an end: nothing else can, because all of the page runs on one
 * thread. `pass` is called in each pass of each loop, as host/assets/guard-loops.ts has built the code.
 */
export class LoopWatch {
  readonly #onEndless: (error: Error) => void;
  #ended: Error | undefined;
  #stride = 1;
  #passesLeft = 1;
  #turn = -1;
  #lookedAt = 0;
  #spentMs = 0;

  constructor(onEndless: (error: Error) => void) {
    this.#onEndless = onEndless;
  }

  /** @throws Error when the loops have taken too long, and from then on always */
  readonly pass = (): void => {
    if (this.#ended) throw this.#ended;
    if (--this.#passesLeft <= 0) this.#look();
  };

  #look(): void {
    const now = performance.now();
    if (this.#turn === turn) {
      const passed = now - this.#lookedAt;
      this.#spentMs += Math.min(passed, MOST_COUNTED_MS);
      this.#stride = passed > LONG_MS ? 1 : Math.min(this.#stride * 2, SHORT_PASSES);
    } else {
      this.#spentMs = 0;
      this.#stride = 1;
    }
    this.#turn = turn;
    this.#lookedAt = now;
    this.#passesLeft = this.#stride;
    announceNextTurn();
    if (this.#spentMs < LIMIT_MS) return;
    this.#ended = new Error(words.peek().endlessLoop);
    this.#onEndless(this.#ended);
    throw this.#ended;
  }
}

/** By a message, which hidden pages have at once as well, unlike timers. */
function announceNextTurn(): void {
  if (turnEnds) return;
  turnEnds = true;
  const { port1, port2 } = new MessageChannel();
  port1.addEventListener("message", () => {
    turn++;
    turnEnds = false;
    port1.close();
  });
  port1.start();
  port2.postMessage(undefined);
}
