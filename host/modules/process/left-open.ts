import { type Leftover, LEFTOVER_KINDS } from "@mantel/plugin-sdk/protocol";
import { Type } from "typebox";
import { faultsOf } from "../../validate.ts";
import { locationInStack } from "../code/code-frame.ts";
import type { ModuleLog } from "../logs.ts";
import type { LeftOpen } from "../view.ts";
import type { Generation } from "./generation.ts";

/** The old process is about to be ended anyway, so its answer is worth no long wait. */
const DEADLINE_MS = 500;

const Leftovers = Type.Array(
  Type.Object({
    kind: Type.Enum([...LEFTOVER_KINDS]),
    stack: Type.Array(Type.String({ maxLength: 4_096 }), { maxItems: 20 }),
    path: Type.Optional(Type.String({ maxLength: 4_096 })),
  }),
  { maxItems: 100 },
);

/**
 * What a generation that has quiesced has left open, each with its place in the author's `folder`;
 * those of one kind and stack are one entry. A process that does not say has left nothing known.
 */
export async function findLeftOpen(generation: Generation, folder: string): Promise<LeftOpen[]> {
  const answer: unknown = await generation.peer
    .call("findLeftovers", {}, DEADLINE_MS)
    .catch(() => []);
  const leftovers = faultsOf(Leftovers, answer).length === 0 ? (answer as Leftover[]) : [];
  const counted = new Map<string, { leftover: Leftover; count: number }>();
  for (const leftover of leftovers) {
    const key = JSON.stringify(leftover);
    counted.set(key, { leftover, count: (counted.get(key)?.count ?? 0) + 1 });
  }
  return [...counted.values()].map(({ leftover: { kind, stack, path }, count }) => ({
    ...{ kind, count },
    ...(path === undefined ? {} : { path }),
    ...locationInStack(stack.join("\n"), folder),
  }));
}

/** An author sees a leak at the save that shows it. */
export function tellLeftOpen(leftOpen: readonly LeftOpen[], log: ModuleLog): void {
  if (leftOpen.length === 0) return;
  const fields = { leftOpen: leftOpen.map(sentenceOf) };
  log.record({ level: "warn", sentence: "the old code left something open", fields });
}

/** Such as `2 x timer opened at index.ts:12:5`. */
function sentenceOf({ kind, count, file, line, column, path }: LeftOpen): string {
  const what = path === undefined ? kind : `${kind} ${path}`;
  const where =
    file === undefined ? "outside the plugin's own files" : `at ${file}:${line}:${column}`;
  return `${count > 1 ? `${count} x ` : ""}${what}${path === undefined ? ` opened ${where}` : ""}`;
}
