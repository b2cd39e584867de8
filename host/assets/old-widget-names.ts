import type { AnyNode } from "acorn";
import { definitionIn, nodesIn, propertyOf, refusalAt, type WidgetScript } from "./script-tree.ts";

const FUNCTIONS = new Set(["ArrowFunctionExpression", "FunctionDeclaration", "FunctionExpression"]);

/**
 * Refuses a widget whose `mount` returns an object with the old name `keep`. What it returns otherwise, such as a
 * variable, the dashboard checks when it mounts the widget, without a place.
 *
 * @throws MantelError `reload_failed`, with the place in the author's source
 */
export function rejectOldNames(script: WidgetScript): void {
  const keep = /\bkeep\b/.test(script.code) ? findKeep(script.tree) : undefined;
  if (keep) throw refusalAt(keep, "keep() is now handOver()", script);
}

/** The first `keep` that a `mount` returns. */
function findKeep(tree: AnyNode): AnyNode | undefined {
  return [...nodesIn(tree)]
    .map((node) => propertyOf(definitionIn(node), "mount"))
    .flatMap((mount) => (mount?.type === "Property" ? returnedBy(mount.value) : []))
    .map((returned) => propertyOf(returned, "keep"))
    .find((keep) => keep !== undefined);
}

/** The values that a function returns, without those of functions in it. */
function returnedBy(value: AnyNode): AnyNode[] {
  if (value.type !== "ArrowFunctionExpression" && value.type !== "FunctionExpression") return [];
  if (value.body.type !== "BlockStatement") return [value.body];
  return [...nodesIn(value.body, ({ type }) => !FUNCTIONS.has(type))].flatMap((each) =>
    each.type === "ReturnStatement" && each.argument ? [each.argument] : [],
  );
}
