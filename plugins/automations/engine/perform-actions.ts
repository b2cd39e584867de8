import type { Automation, Run } from "./automation.ts";
import type { Action, AutomationDocument } from "./document.ts";

/** Performs the actions of a document, one after the other. An action that fails does not end the run. */
async function performActions(run: Run, actions: readonly Action[], place = ""): Promise<void> {
  for (const [index, action] of actions.entries()) {
    const at = `${place}${index}`;
    if (action.type !== "if") {
      await run.step({ ...action, at });
      continue;
    }
    const { value } = await run.step({ type: "check", conditions: action.conditions, at });
    if (value === true) await performActions(run, action.then, `${at}/then/`);
    else await performActions(run, action.else ?? [], `${at}/else/`);
  }
}

/** The automation of a document. A run keeps the actions with which it began. */
export function toAutomation(id: string, document: AutomationDocument): Automation {
  const { name, enabled, mode, triggers, conditions, actions } = document;
  return {
    id,
    name,
    kind: "document",
    enabled,
    mode,
    triggers,
    conditions,
    kept: actions,
    perform: (run, kept) => performActions(run, kept as readonly Action[]),
  };
}
