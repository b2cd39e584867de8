import { type Leftover, LEFTOVER_KINDS } from "@mantel/plugin-sdk/protocol";
import { Type } from "typebox";
import type { LeftOpen } from "../../api/module.ts";
import { faultsOf } from "../../validate.ts";
import { locationInStack, type SourceOf } from "../errors/code-frame.ts";
import type { PluginProcess } from "./plugin-process.ts";
import { openFiles } from "./procfs.ts";

/** The old process is about to be killed anyway, so a long wait for its answer is not worth it. */
const DEADLINE_MS = 500;

/** The most files in the list. */
const MAX_FILES = 50;

const Leftovers = Type.Array(
  Type.Object({
    kind: Type.Enum([...LEFTOVER_KINDS]),
    stack: Type.Array(Type.String({ maxLength: 4_096 }), { maxItems: 20 }),
    path: Type.Optional(Type.String({ maxLength: 4_096 })),
  }),
  { maxItems: 100 },
);

/**
 * The resources that a quiesced generation has left open, each with its location in the author's `folder`, shown as
 * its code was when it was built;
 * those of one kind and stack are one entry. Empty if the process does not answer.
 */
export async function findLeaks(
  generation: PluginProcess,
  folder: string,
  sourceOf?: SourceOf,
): Promise<LeftOpen[]> {
  const answer: unknown = await generation.peer.call("findLeaks", {}, DEADLINE_MS).catch(() => []);
  const reported = faultsOf(Leftovers, answer).length === 0 ? (answer as Leftover[]) : [];
  const files = openFiles(generation.pid).map((path): Leftover => ({
    kind: "file",
    stack: [],
    path,
  }));
  const leftovers = [...reported, ...files.slice(0, MAX_FILES)];
  const counted = new Map<string, { leftover: Leftover; count: number }>();
  for (const leftover of leftovers) {
    const key = JSON.stringify(leftover);
    counted.set(key, { leftover, count: (counted.get(key)?.count ?? 0) + 1 });
  }
  return [...counted.values()].map(({ leftover: { kind, stack, path }, count }) => ({
    kind,
    count,
    ...(path === undefined ? {} : { path }),
    ...locationInStack(stack.join("\n"), folder, sourceOf),
  }));
}
