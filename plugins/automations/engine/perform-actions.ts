import type { Automation, Run, StepRequest } from "./automation.ts";
import type { Action, AutomationDocument } from "./document.ts";
import { filled, hasPlaceholder } from "./placeholders.ts";

/** Performs the actions of a document, one after the other. An action that fails does not end the run. */
async function performActions(run: Run, actions: readonly Action[], place = ""): Promise<void> {
  for (const [index, action] of actions.entries()) {
    const at = `${place}${index}`;
    if (action.type !== "if") {
      const step = hasPlaceholder(action) ? await withValues(run, action, at) : action;
      await run.step({ ...step, at });
      continue;
    }
    const { value } = await run.step({ type: "check", conditions: action.conditions, at });
    if (value === true) await performActions(run, action.then, `${at}/then/`);
    else await performActions(run, action.else ?? [], `${at}/else/`);
  }
}

/** The action with values of the trigger and of variables in place of `{trigger.…}` and `{variable.…}`. */
async function withValues(
  run: Run,
  action: Exclude<Action, { type: "if" }>,
  at: string,
): Promise<StepRequest> {
  const variable = async (name: string) =>
    (await run.step({ type: "variable", name, at: `${at}/${name}` })).value;
  const given = { trigger: run.trigger, variable };
  switch (action.type) {
    case "command":
      return { ...action, command: await filled(action.command, given) };
    case "notify":
      return { ...action, message: String(await filled(action.message, given)) };
    case "variable":
      return action.set === undefined
        ? action
        : { ...action, set: await filled(action.set, given) };
    default:
      return action;
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
    owner: id,
    kept: actions,
    perform: (run, kept) => performActions(run, kept as readonly Action[]),
  };
}
