/** The time between two looks at the processes of plugins. */
export const LOOK_MS = 250;

const all = new Set<() => void>();
let timer: NodeJS.Timeout | undefined;

/**
 * Calls `look` each `LOOK_MS` until the returned function is called. All processes are looked at in one turn, because an
 * idle host spends most of its CPU time on waking up.
 */
export function lookRegularly(look: () => void): () => void {
  all.add(look);
  timer ??= setInterval(lookAtAll, LOOK_MS);
  return () => {
    all.delete(look);
    if (all.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function lookAtAll(): void {
  for (const look of all) look();
}
