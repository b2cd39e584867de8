/** The time between two looks at the processes of plugins. */
export const LOOK_MS = 250;

/** A turn that would begin sooner than this has just been. */
const SOONEST = 0.1;

/** `turn` is the same number for all processes that are looked at together. */
type Look = (turn: number) => void;

const all = new Set<Look>();
let turn = 0;
let timer: NodeJS.Timeout | undefined;

/**
 * The time until the next turn of this period. Turns are at the same moments for all processes, because an idle host
 * spends most of its CPU time on waking up.
 */
export function untilTurnMs(periodMs: number): number {
  const leftMs = periodMs - (performance.now() % periodMs);
  return leftMs < periodMs * SOONEST ? leftMs + periodMs : leftMs;
}

/** Calls `look` each `LOOK_MS` until the returned function is called. */
export function lookRegularly(look: Look): () => void {
  all.add(look);
  timer ??= setTimeout(lookAtAll, untilTurnMs(LOOK_MS));
  return () => {
    all.delete(look);
    if (all.size > 0) return;
    clearTimeout(timer);
    timer = undefined;
  };
}

function lookAtAll(): void {
  timer = setTimeout(lookAtAll, untilTurnMs(LOOK_MS));
  turn++;
  for (const look of all) look(turn);
}
