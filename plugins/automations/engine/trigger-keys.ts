import type { Automation } from "./automation.ts";
import type { StoredWatch, Watch } from "./watch.ts";

/** A trigger with a key that stays the same while the trigger does. */
export interface KeyedTrigger {
  readonly key: string;
  readonly trigger: Automation["triggers"][number];
  readonly index: number;
}

/** The triggers of an automation, each with a key that stays the same while the trigger does. */
export function watchKeys({ id, triggers }: Automation): KeyedTrigger[] {
  const counts = new Map<string, number>();
  return triggers.map((trigger, index) => {
    const text = `${id} ${JSON.stringify(trigger)}`;
    const count = counts.get(text) ?? 0;
    counts.set(text, count + 1);
    return { key: count === 0 ? text : `${text} ${count}`, trigger, index };
  });
}

/** The states of the triggers of an automation, by their keys. */
export function watchStates({
  automation,
  watches,
}: {
  readonly automation: Automation;
  readonly watches: readonly Watch[];
}): Record<string, StoredWatch> {
  const states: Record<string, StoredWatch> = {};
  if (watches.length === 0) return states;
  for (const { key, index } of watchKeys(automation)) {
    const stored = watches[index]?.stored();
    if (stored) states[key] = stored;
  }
  return states;
}
