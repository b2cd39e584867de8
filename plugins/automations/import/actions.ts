import type { Action, Condition } from "../engine/document.ts";
import { convertCondition, convertConditions, isNever } from "./conditions.ts";
import { entityOfDevice } from "./device-parts.ts";
import {
  durationOf,
  type Fields,
  fieldsOf,
  isFields,
  isNo,
  isTemplate,
  listOf,
  numberOf,
  type Scope,
  textOf,
  Unmappable,
} from "./scope.ts";
import { callService, isNotification, notification } from "./services.ts";
import { convertTrigger } from "./triggers.ts";

const LONGEST_WAIT_MS = 366 * 24 * 60 * 60 * 1_000;
const MOST_REPEATS = 20;
const MOST_CALLS = 8;

/**
 * The actions in their order. An action that cannot be mapped leaves a reason and is left out. A condition between actions
 * has the actions after it inside.
 * @param place the beginning of the places in reasons, such as `action` or `action 3, then`
 * @param first the index of the first action to convert
 */
export function convertActions(
  value: unknown,
  scope: Scope,
  place = "action",
  first = 0,
): Action[] {
  const steps = listOf(value);
  const made: Action[] = [];
  for (const [index, step] of steps.entries()) {
    if (index < first) continue;
    const here = `${place} ${index + 1}`;
    if (isFields(step) && isNo(step["enabled"])) {
      scope.note(`${here} is switched off, and left out`);
      continue;
    }
    if (isCondition(step)) {
      const before = scope.reasons.length;
      const conditions = conditionAt(step, scope, here);
      // without the condition, the actions after it would always happen
      if (scope.reasons.length > before || isNever(conditions)) return made;
      if (conditions.length === 0) continue;
      const rest = convertActions(steps, scope, place, index + 1);
      return [...made, ...branch(conditions, rest, [])];
    }
    // what follows the end of the whole run never happens
    if (place === "action" && isFields(step) && step["stop"] !== undefined) return made;
    made.push(...scope.attempt(here, () => convertAction(step, scope, here)));
  }
  return made;
}

function isCondition(step: unknown): boolean {
  if (!isFields(step)) return typeof step === "string" && isTemplate(step);
  return (
    step["condition"] !== undefined ||
    ["and", "or", "not"].some((name) => Array.isArray(step[name]))
  );
}

function conditionAt(step: unknown, scope: Scope, place: string): Condition[] {
  const made = scope.attempt(place, () => [convertCondition(step, scope)]);
  return made.filter(
    ({ type, ...rest }) => type !== "all" || !("of" in rest) || rest.of.length > 0,
  );
}

function convertAction(value: unknown, scope: Scope, place: string): Action[] {
  const fields = fieldsOf(value);
  if (fields["response_variable"] !== undefined)
    throw new Unmappable(`"response_variable" has no counterpart`);
  const service = fields["action"] ?? fields["service"];
  if (service !== undefined) return callOf(textOf(service, "action"), fields, scope, place);
  const found = STEPS.find(([name]) => fields[name] !== undefined);
  if (!found) throw new Unmappable(`"${Object.keys(fields)[0] ?? ""}" has no counterpart`);
  return found[1](fields, scope, place);
}

type Step = (fields: Fields, scope: Scope, place: string) => Action[];

/** The kinds of steps by the field that they have. */
const STEPS: readonly (readonly [field: string, convert: Step])[] = [
  ["delay", (fields) => [waitOf(fields["delay"])]],
  ["wait_for_trigger", waitForTrigger],
  ["if", ifThen],
  ["choose", choose],
  ["repeat", repeat],
  ["parallel", parallel],
  [
    "sequence",
    (fields, scope, place) => convertActions(fields["sequence"], scope, `${place}, part`),
  ],
  ["variables", variables],
  [
    "scene",
    (fields, scope) => [{ type: "scene", scene: scope.match(textOf(fields["scene"], "scene")).id }],
  ],
  ["device_id", deviceAction],
  ["wait_template", refused("templates are not supported")],
  ["service_template", refused("the name of a service is a template, which is not supported")],
  ["action_template", refused("the name of a service is a template, which is not supported")],
  ["event", refused("events cannot be sent")],
  ["stop", refused(`"stop" inside other actions has no counterpart`)],
];

function refused(sentence: string): Step {
  return () => {
    throw new Unmappable(sentence);
  };
}

function waitOf(value: unknown): Action {
  const ms = durationOf(value, "delay");
  if (ms < 0 || ms > LONGEST_WAIT_MS) throw new Unmappable(`"delay" is not between 0 and a year`);
  return { type: "wait", ms };
}

/** Templates are refused where they are used, so their variables may be left out. */
function variables(_fields: Fields, scope: Scope): Action[] {
  scope.note("variables are left out, because only templates use them");
  return [];
}

function waitForTrigger(fields: Fields, scope: Scope): Action[] {
  const triggers = listOf(fields["wait_for_trigger"]).flatMap((each) =>
    convertTrigger(each, scope),
  );
  const [trigger] = triggers;
  if (!trigger || triggers.length > 1) throw new Unmappable("only one trigger can be waited for");
  const { timeout } = fields;
  const hasEnd = timeout !== undefined && timeout !== null;
  if (hasEnd && isNo(fields["continue_on_timeout"])) {
    throw new Unmappable(`"continue_on_timeout: false" has no counterpart`);
  }
  if (!hasEnd) scope.note("a wait without a timeout ends after a year");
  return [
    {
      type: "waitFor",
      trigger,
      timeoutMs: hasEnd ? durationOf(timeout, "timeout") : LONGEST_WAIT_MS,
    },
  ];
}

function ifThen(fields: Fields, scope: Scope, place: string): Action[] {
  const before = scope.reasons.length;
  const conditions = convertConditions(fields["if"], scope, `${place}, condition`);
  const hasAll = scope.reasons.length === before;
  const then = isNever(conditions) ? [] : convertActions(fields["then"], scope, `${place}, then`);
  const otherwise = convertActions(fields["else"], scope, `${place}, else`);
  if (!hasAll) return [];
  return branch(conditions, then, otherwise);
}

/** One of two branches; only that which can happen if that is known. */
function branch(
  conditions: readonly Condition[],
  then: readonly Action[],
  otherwise: readonly Action[],
): Action[] {
  if (isNever(conditions)) return [...otherwise];
  if (conditions.length === 0) return [...then];
  if (then.length === 0 && otherwise.length === 0) return [];
  // oxlint-disable-next-line unicorn/no-thenable -- the word of the document
  const action = { type: "if", conditions, then } as const;
  return [otherwise.length > 0 ? { ...action, else: otherwise } : action];
}

/** The first option whose conditions are met: each further one is in the `else` of the one before. */
function choose(fields: Fields, scope: Scope, place: string): Action[] {
  const before = scope.reasons.length;
  const options = listOf(fields["choose"]).map((option, index) => {
    const here = `${place}, option ${index + 1}`;
    const { conditions: given, sequence } = fieldsOf(option);
    const conditions = convertConditions(given, scope, `${here}, condition`);
    const actions = isNever(conditions) ? [] : convertActions(sequence, scope, `${here}, action`);
    return { conditions, actions };
  });
  const otherwise = convertActions(fields["default"], scope, `${place}, default`);
  const conditionFailed = scope.reasons
    .slice(before)
    .some(({ place: at }) => /, option \d+, condition \d+$/.test(at) && at.startsWith(place));
  if (conditionFailed) return [];
  return options
    .filter(({ conditions }) => !isNever(conditions))
    .reduceRight<Action[]>(
      (rest, { conditions, actions }) => branch(conditions, actions, rest),
      otherwise,
    );
}

/** A few repetitions become so many actions. */
function repeat(fields: Fields, scope: Scope, place: string): Action[] {
  const { count, sequence, ...rest } = fieldsOf(fields["repeat"]);
  const other = Object.keys(rest).find((name) => ["while", "until", "for_each"].includes(name));
  if (other !== undefined) throw new Unmappable(`"repeat" with "${other}" has no counterpart`);
  const times = numberOf(count, "count");
  if (!Number.isInteger(times) || times < 1 || times > MOST_REPEATS) {
    throw new Unmappable(`"repeat" has no counterpart for more than ${MOST_REPEATS} times`);
  }
  const actions = convertActions(sequence, scope, `${place}, repeat`);
  return Array.from({ length: times }, () => actions).flat();
}

/** Actions at once are one after the other here, which is the same unless one waits. */
function parallel(fields: Fields, scope: Scope, place: string): Action[] {
  const actions = convertActions(fields["parallel"], scope, `${place}, part`);
  const waits = (action: Action): boolean =>
    action.type === "wait" ||
    action.type === "waitFor" ||
    (action.type === "if" && [...action.then, ...(action.else ?? [])].some(waits));
  if (actions.some(waits))
    throw new Unmappable(`"parallel" has no counterpart for actions that wait`);
  return actions;
}

function callOf(name: string, fields: Fields, scope: Scope, place: string): Action[] {
  const [domain = "", service = ""] = name.toLowerCase().split(".");
  if (domain === "script" || name === "automation.trigger") {
    return callScript(domain === "script" ? service : "turn_on", fields, scope, place);
  }
  if (isNotification(domain, service)) {
    const data = { ...asFields(fields["data"]), ...asFields(fields["data_template"]) };
    return [notification(data, scope)];
  }
  return callService(domain, service, fields, scope);
}

const asFields = (value: unknown): Fields => (isFields(value) ? value : {});

/** The actions of scripts, or of automations that are triggered, of the same import. */
function callScript(service: string, fields: Fields, scope: Scope, place: string): Action[] {
  const names = service === "turn_on" ? scriptsIn(fields) : [`script.${service}`];
  const data = asFields(fields["data"]);
  const hasData = Object.keys(data).some((name) => !["entity_id", "skip_condition"].includes(name));
  if (isNo(data["skip_condition"]))
    throw new Unmappable(`"skip_condition: false" has no counterpart`);
  return names.flatMap((name) => {
    const script = scope.scripts.get(name);
    if (!isFields(script)) throw new Unmappable(`${name.slice(0, 100)} is not part of this import`);
    if (scope.calls.includes(name)) throw new Unmappable(`${name} calls itself`);
    if (scope.calls.length >= MOST_CALLS)
      throw new Unmappable("scripts call each other too deeply");
    if (hasData) throw new Unmappable(`${name} is called with values, which is not supported`);
    scope.calls.push(name);
    try {
      const steps = script["sequence"] ?? script["actions"] ?? script["action"];
      return convertActions(steps, scope, `${place}, ${name}`);
    } finally {
      scope.calls.pop();
    }
  });
}

function scriptsIn(fields: Fields): string[] {
  const given = [
    fields["entity_id"],
    asFields(fields["target"])["entity_id"],
    asFields(fields["data"])["entity_id"],
  ];
  const names = given
    .flatMap(listOf)
    .flatMap((each) => textOf(each, "entity_id").split(","))
    .map((each) => each.trim().toLowerCase());
  if (names.length === 0) throw new Unmappable("the name of the script is missing");
  return names;
}

const DEVICE_SERVICES: Readonly<Record<string, string>> = {
  open: "open_cover",
  close: "close_cover",
  stop: "stop_cover",
  set_position: "set_cover_position",
  clean: "start",
  dock: "return_to_base",
};

/** The action of a device, which is a service with the values beside it. */
function deviceAction(fields: Fields, scope: Scope): Action[] {
  const domain = textOf(fields["domain"] ?? "", "domain");
  const type = textOf(fields["type"] ?? "", "type");
  if (domain === "mobile_app") return [notification(fields, scope)];
  const { device_id: _device, entity_id: _entity, type: _type, domain: _domain, ...rest } = fields;
  const service = Object.hasOwn(DEVICE_SERVICES, type) ? (DEVICE_SERVICES[type] ?? type) : type;
  if (domain === "" || service === "")
    throw new Unmappable("this action of a device has no counterpart");
  const data = { ...rest, entity_id: entityOfDevice(fields, domain) };
  return callService(domain, service, { data }, scope);
}
