import { MantelError } from "@mantel/plugin-sdk/errors";
import type { AnyNode, Program } from "acorn";
import { sourcePlace } from "../modules/lifecycle/widget-faults.ts";

const INLINE_MAP = /\/\/# sourceMappingURL=data:application\/json;base64,(\S+)\s*$/;

/** The script of a widget before it is minified, which ends with its source map. */
export interface WidgetScript {
  readonly code: string;
  readonly tree: Program;
  /** The plugin's folder. */
  readonly folder: string;
}

export async function parseScript(code: string, folder: string): Promise<WidgetScript> {
  const { parse } = await import("acorn");
  return { code, tree: parse(code, { ecmaVersion: "latest", locations: true }), folder };
}

/** The error for a part of a script, with its place in the author's source. */
export function refusalAt(
  { loc }: AnyNode,
  sentence: string,
  { code, folder }: WidgetScript,
): MantelError {
  const map = Buffer.from(INLINE_MAP.exec(code)?.[1] ?? "", "base64").toString();
  const places = loc ? [{ row: loc.start.line - 1, column: loc.start.column }] : [];
  const location = sourcePlace(places, { map, folder });
  return new MantelError("reload_failed", sentence, location ? { location } : {});
}

/** The argument of a call of `defineWidget`. */
export function definitionIn(node: AnyNode): AnyNode | undefined {
  if (node.type !== "CallExpression") return undefined;
  const callee = [...nodesIn(node.callee)].at(-1); // the last name, as in `(0, sdk.defineWidget)`
  return callee?.type === "Identifier" && callee.name === "defineWidget"
    ? node.arguments[0]
    : undefined;
}

export function propertyOf(object: AnyNode | undefined, name: string): AnyNode | undefined {
  if (object?.type !== "ObjectExpression") return undefined;
  return object.properties.find((each) => {
    if (each.type !== "Property" || each.computed) return false;
    const { key } = each;
    return key.type === "Identifier" ? key.name === name : "value" in key && key.value === name;
  });
}

/** A node with all nodes below it, in the order of the source, except those that `enters` leaves out. */
export function* nodesIn(
  node: AnyNode,
  enters: (node: AnyNode) => boolean = () => true,
): Generator<AnyNode> {
  yield node;
  for (const child of Object.values(node).flat()) {
    if (isNode(child) && enters(child)) yield* nodesIn(child, enters);
  }
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}
