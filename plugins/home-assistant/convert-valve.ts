import { hasFeature, when } from "./attributes.ts";
import {
  confirmsMovement,
  isOnTheWay,
  movementOf,
  MOVEMENTS,
  positionOf,
} from "./convert-cover.ts";
import {
  callsFor,
  choice,
  commands,
  type Confirmation,
  type Domain,
  isKnown,
  PERCENT,
  PERCENT_READ,
  SWITCH,
  whole,
  YES_NO,
} from "./domain.ts";
import type { Entity } from "./entities.ts";

const FEATURE = { open: 1, close: 2, setPosition: 4, stop: 8 } as const;

/** `valve` */
export const valve: Domain = {
  describe(entity) {
    const { attributes } = entity;
    const can = (name: keyof typeof FEATURE): boolean => hasFeature(attributes, FEATURE[name]);
    const hasPosition = can("setPosition") || attributes["current_position"] !== undefined;
    return {
      kind: "valve",
      capabilities: {
        on: can("open") && can("close") ? SWITCH : YES_NO,
        ...when(hasPosition, { position: can("setPosition") ? PERCENT : PERCENT_READ }),
        ...choice("action", MOVEMENTS, true),
        ...commands({ open: can("open"), close: can("close"), stop: can("stop") }),
      },
      state: { on: isOpen(entity), position: positionOf(entity), action: movementOf(entity) },
    };
  },

  calls: (command) =>
    callsFor(command, {
      stop: () => ({ service: "valve.stop_valve" }),
      open: () => ({ service: "valve.open_valve" }),
      close: () => ({ service: "valve.close_valve" }),
      on: (on) => ({ service: on === true ? "valve.open_valve" : "valve.close_valve" }),
      position: (position) => ({
        service: "valve.set_valve_position",
        data: { position: whole(position) },
      }),
    }),

  /** A valve with a motor takes longer than a caller waits, so a movement in the right direction counts. */
  confirms({ field, value }, entity, before) {
    if (field === "on") return confirmsOn(value === true, entity, before);
    if (field === "position") return isOnTheWay(Number(value), entity, before) || undefined;
    return confirmsMovement(field, entity, before);
  },

  shownAsRequested: ["on"],
};

/** A valve that gets another position as well may move to it from above. */
function confirmsOn(isAsked: boolean, { state }: Entity, before: Entity): Confirmation {
  if (state === "opening") return isAsked;
  if (state === "closing") return !isAsked || before.state !== "closing";
  const asked = isAsked ? "open" : "closed";
  return state === asked && (before.state !== asked || "answered");
}

/** A valve that moves does not tell if it will be open. */
function isOpen(entity: Entity): boolean | null | undefined {
  const { state } = entity;
  if (state === "opening" || state === "closing") return undefined;
  return isKnown(entity) ? state === "open" : null;
}
