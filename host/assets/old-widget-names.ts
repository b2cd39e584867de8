import { MantelError } from "@mantel/plugin-sdk/errors";
import type { AnyNode } from "acorn";
import { sourcePlace } from "../modules/lifecycle/widget-faults.ts";

const INLINE_MAP = /\/\/# sourceMappingURL=data:application\/json;base64,(\S+)\s*$/;
const FUNCTIONS = new Set(["ArrowFunctionExpression", "FunctionDeclaration", "FunctionExpression"]);

/**
 * Refuses a widget whose `mount` returns an object with the old name `keep`. What it returns otherwise, such as a
 * variable, the dashboard checks when it mounts the widget, without a place.
 *
 * @param script the built script, which ends with its source map
 * @throws MantelError `reload_failed`, with the place in the author's source
 */
export async function rejectOldNames(script: string, folder: string): Promise<void> {
  const keep = /\bkeep\b/.test(script) ? await findKeep(script) : undefined;
  if (!keep) return;
  const map = Buffer.from(INLINE_MAP.exec(script)?.[1] ?? "", "base64").toString();
  const location = sourcePlace([keep], { map, folder });
  const extras = location === undefined ? {} : { location };
  throw new MantelError("reload_failed", "keep() is now handOver()", extras);
}

/** The place of the first `keep` that a `mount` returns, counted from 0. */
async function findKeep(
  script: string,
): Promise<{ readonly row: number; readonly column: number } | undefined> {
  const { parse } = await import("acorn");
  const places = [...nodesIn(parse(script, { ecmaVersion: "latest", locations: true }))]
    .map((node) => propertyOf(definitionIn(node), "mount"))
    .flatMap((mount) => (mount?.type === "Property" ? returnedBy(mount.value) : []))
    .flatMap((returned) => propertyOf(returned, "keep")?.loc ?? []);
  const start = places[0]?.start;
  return start && { row: start.line - 1, column: start.column };
}

/** The argument of a call of `defineWidget`. */
function definitionIn(node: AnyNode): AnyNode | undefined {
  if (node.type !== "CallExpression") return undefined;
  const callee = [...nodesIn(node.callee)].at(-1); // the last name, as in `(0, sdk.defineWidget)`
  return callee?.type === "Identifier" && callee.name === "defineWidget"
    ? node.arguments[0]
    : undefined;
}

function propertyOf(object: AnyNode | undefined, name: string): AnyNode | undefined {
  if (object?.type !== "ObjectExpression") return undefined;
  return object.properties.find(
    (each) => each.type === "Property" && each.key.type === "Identifier" && each.key.name === name,
  );
}

/** The values that a function returns, without those of functions in it. */
function returnedBy(value: AnyNode): AnyNode[] {
  if (value.type !== "ArrowFunctionExpression" && value.type !== "FunctionExpression") return [];
  if (value.body.type !== "BlockStatement") return [value.body];
  return [...nodesIn(value.body, ({ type }) => !FUNCTIONS.has(type))].flatMap((each) =>
    each.type === "ReturnStatement" && each.argument ? [each.argument] : [],
  );
}

/** A node with all nodes below it, in the order of the source, except those that `enters` leaves out. */
function* nodesIn(
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
