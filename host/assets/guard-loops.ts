import type { Node } from "acorn";
import type { WidgetScript } from "./script-tree.ts";

const LOOPS = new Set([
  "DoWhileStatement",
  "ForInStatement",
  "ForOfStatement",
  "ForStatement",
  "WhileStatement",
]);

/**
 * Inserts a call of `mantelLoop()` into every loop of a script; host/dashboard/loop-watch.ts is the other
 * end. Inserted code adds no lines, so that source maps remain correct.
 */
export function guardLoops({ code, tree }: WidgetScript): string {
  const additions: { readonly at: number; readonly text: string }[] = [];
  for (const { type, start, end } of bodiesOfLoops(tree)) {
    if (type === "BlockStatement") additions.push({ at: start + 1, text: "mantelLoop();" });
    else additions.push({ at: start, text: "{mantelLoop();" }, { at: end, text: "}" });
  }
  let guarded = "";
  let done = 0;
  for (const { at, text } of additions.toSorted((a, b) => a.at - b.at)) {
    guarded += code.slice(done, at) + text;
    done = at;
  }
  return guarded + code.slice(done);
}

function* bodiesOfLoops(node: Node): Generator<Node> {
  if (LOOPS.has(node.type) && "body" in node) yield node.body as Node;
  for (const child of Object.values(node).flat()) if (isNode(child)) yield* bodiesOfLoops(child);
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}
