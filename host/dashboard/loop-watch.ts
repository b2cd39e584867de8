import { words } from "./i18n/shell.ts";

/** Maximum time for which a widget's loops may block the page. */
const LIMIT_MS = 1_000;
/** Loops with short passes read the clock at least once in this many passes. */
const SHORT_PASSES = 64;
/** A longer interval between two clock readings means long passes or other code in between. */
const LONG_MS = 5;
/** Maximum time between two clock readings that counts as loop time. */
const MOST_COUNTED_MS = 50;

/** Counts the page's event loop turns in which loops ran. A message starts each new turn. */
let turn = 0;
let turnEnds = false;

/**
 * Stops a widget with an infinite loop. Nothing else can, because the whole page runs on one
 * thread. `host/assets/guard-loops.ts` builds a call of `pass` into each loop.
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

  /** @throws Error when the loops have taken too long, and on every later call */
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

/** Uses a message, because a hidden page receives messages without delay, unlike timers. */
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
