import type { Trigger } from "../engine/document.ts";
import { changeOf, entitiesIn, forOf, limitsOf } from "./changes.ts";
import { entityOfDevice, matchOfType, stateOfType } from "./device-parts.ts";
import type { Match } from "./entities.ts";
import { type Fields, fieldsOf, type Scope, textOf, Unmappable } from "./scope.ts";
import { mainField } from "./states.ts";

/** Events of remotes by type, with the fields that name the remote and the gesture. */
const REMOTES: Readonly<Record<string, readonly [device: readonly string[], gesture: string]>> = {
  "xiaomi_aqara.click": [["entity_id"], "click_type"],
  "xiaomi_aqara.cube_action": [["entity_id"], "action_type"],
  click: [["entity_id"], "click_type"],
  cube_action: [["entity_id"], "action_type"],
  deconz_event: [["id", "unique_id"], "event"],
  zha_event: [["device_ieee", "device_id"], "command"],
  hue_event: [["id", "unique_id"], "event"],
};

/** Triggers of events. @throws Unmappable */
export function eventTriggers(fields: Fields, scope: Scope): Trigger[] {
  return entitiesIn(fields["event_type"], "event_type").map((type) => {
    if (type === "homeassistant_start" || type === "homeassistant_started")
      return { type: "start" };
    const remote = Object.hasOwn(REMOTES, type) ? REMOTES[type] : undefined;
    if (!remote) throw new Unmappable(`events of the type "${type}" have no counterpart`);
    const data = fieldsOf(fields["event_data"] ?? {});
    const [names, gesture] = remote;
    const name = names.find((each) => data[each] !== undefined);
    if (name === undefined) throw new Unmappable(`"event_data" does not name a remote`);
    const text = textOf(data[name], name).toLowerCase();
    const match = scope.match(
      text.includes(".") ? text : `event.device_${text.replaceAll(".", "_")}`,
    );
    return gestureOf(match, [textOf(data[gesture], gesture)], scope);
  });
}

/** A gesture of a remote: the one of its events that has one of these names. */
function gestureOf(match: Match, names: readonly string[], scope: Scope): Trigger {
  const capability = match.capabilities?.["lastAction"];
  const known = capability?.type === "choice" ? capability.values : undefined;
  const event = known ? names.find((name) => known.includes(name)) : names[0];
  if (event === undefined) {
    const offered = known?.slice(0, 10).join(", ") ?? "none";
    throw new Unmappable(`the device has no event "${names[0] ?? ""}", but: ${offered}`);
  }
  if (!known && match.isFound)
    scope.note(`check the event "${event}": its device does not tell its events`);
  return { type: "event", device: match.id, event: event.slice(0, 100) };
}

/** Triggers of devices: changes of state, values and gestures. @throws Unmappable */
export function deviceTriggers(fields: Fields, scope: Scope): Trigger[] {
  const domain = textOf(fields["domain"] ?? "", "domain");
  const type = textOf(fields["type"] ?? "", "type");
  const isNumeric = fields["above"] !== undefined || fields["below"] !== undefined;
  const state = stateOfType(domain, type);
  const rest = forOf(fields);
  if (isNumeric) {
    const match = matchOfType(scope, fields, type);
    const { attribute: _attribute, ...limits } = fields;
    const named =
      type === "current_temperature_changed" ? { ...match, field: "temperature" } : match;
    return [{ type: "state", device: match.id, ...limitsOf(limits, named), ...rest }];
  }
  if (state !== undefined) {
    const match = matchOfType(scope, fields, type);
    return [{ type: "state", device: match.id, ...changeOf(match, state, undefined), ...rest }];
  }
  if (type === "changed_states" || type === "value_changed") {
    const match = matchOfType(scope, fields, type);
    return [{ type: "state", device: match.id, field: mainField(match), ...rest }];
  }
  if (type === "hvac_mode_changed") {
    const match = scope.match(entityOfDevice(fields, domain));
    const to = fields["to"] === undefined ? undefined : textOf(fields["to"], "to");
    return [{ type: "state", device: match.id, ...changeOf(match, to, undefined), ...rest }];
  }
  return gestureTriggers(fields, scope, domain, type);
}

function gestureTriggers(fields: Fields, scope: Scope, domain: string, type: string): Trigger[] {
  const subtype = fields["subtype"] === undefined ? "" : textOf(fields["subtype"], "subtype");
  if (subtype === "" || !REMOTE_DOMAINS.includes(domain)) {
    throw new Unmappable(
      `the device trigger "${type || domain}" of ${domain || "a device"} has no counterpart`,
    );
  }
  const match = scope.match(entityOfDevice(fields, "event"));
  return [gestureOf(match, gestureNames(type, subtype), scope)];
}

const REMOTE_DOMAINS = ["mqtt", "zha", "deconz", "hue", "shelly", "homekit_controller", "tasmota"];

/** Names that a gesture may have here, the likeliest first. */
function gestureNames(type: string, subtype: string): string[] {
  if (type === "action" || type === "click") return [subtype];
  const short = subtype.replace(/^turn_/, "").replace(/^button_/, "");
  const gesture = /double/.test(type) ? "double" : /long|hold/.test(type) ? "hold" : "single";
  return [`${short}_${gesture}`, `${gesture}_${short}`, short, subtype, type, gesture];
}
