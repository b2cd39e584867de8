import { MantelError } from "@mantel/plugin-sdk/errors";
import type { AnyNode, Program } from "acorn";
import { definitionIn, nodesIn, propertyOf, refusalAt, type WidgetScript } from "./script-tree.ts";

const REMEDY = 'write "export default defineWidget({ ... })"';
/** Expressions of functions and classes, which are never widgets. */
const FUNCTIONS = new Set([
  "ArrowFunctionExpression",
  "ClassDeclaration",
  "ClassExpression",
  "FunctionDeclaration",
  "FunctionExpression",
]);

/**
 * Refuses a widget without a default export, or with one that is plainly something else. Values that only running code
 * has, the dashboard checks when it mounts the widget.
 *
 * @throws MantelError `reload_failed`, with the place in the author's source
 */
export function checkDefaultExport(script: WidgetScript): void {
  const value = defaultExport(script.tree);
  if (value?.type === "UnaryExpression") {
    throw new MantelError(
      "reload_failed",
      `the default export of the widget is missing: ${REMEDY}`,
    );
  }
  if (!value || mayBeWidget(value)) return;
  throw refusalAt(value, `the default export is not a widget: ${REMEDY}`, script);
}

/** The value of `module.exports.default`, through one name; `void 0` without a default export. */
function defaultExport(tree: Program): AnyNode | undefined {
  const last = tree.body.at(-1);
  if (last?.type !== "ExpressionStatement" || last.expression.type !== "AssignmentExpression") {
    return undefined;
  }
  const value = last.expression.right;
  return value.type === "Identifier" ? declared(value.name, tree) : value;
}

/** The value of a name; `undefined` if the script uses it elsewhere, where it may change the value. */
function declared(name: string, tree: Program): AnyNode | undefined {
  const uses = [...nodesIn(tree)].filter(
    (node) => node.type === "Identifier" && node.name === name,
  );
  if (uses.length > 2) return undefined;
  const nodes = tree.body.flatMap<AnyNode>((node) =>
    node.type === "VariableDeclaration" ? node.declarations : node,
  );
  for (const node of nodes) {
    if (!("id" in node) || node.id?.type !== "Identifier" || node.id.name !== name) continue;
    return node.type === "VariableDeclarator" ? (node.init ?? undefined) : node;
  }
  return undefined;
}

function mayBeWidget(value: AnyNode): boolean {
  const object = definitionIn(value) ?? value;
  if (object.type !== "ObjectExpression") return !FUNCTIONS.has(object.type);
  const isOpen = object.properties.some((each) => each.type === "SpreadElement" || each.computed);
  return isOpen || propertyOf(object, "mount") !== undefined;
}
