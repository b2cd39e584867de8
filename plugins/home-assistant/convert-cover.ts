import { hasFeature, numberIn, when } from "./attributes.ts";
import {
  callsFor,
  choice,
  commands,
  type Domain,
  extras,
  isKnown,
  PERCENT,
  PERCENT_READ,
  whole,
} from "./domain.ts";
import type { Entity } from "./entities.ts";

const FEATURE = {
  open: 1,
  close: 2,
  setPosition: 4,
  stop: 8,
  openTilt: 16,
  closeTilt: 32,
  stopTilt: 64,
  setTilt: 128,
} as const;

/** The movements of covers and valves. */
export const MOVEMENTS = ["opening", "closing", "stopped"];

/** `cover`: 100 is open on both sides. */
export const cover: Domain = {
  describe(entity) {
    const { attributes } = entity;
    const can = (name: keyof typeof FEATURE): boolean => hasFeature(attributes, FEATURE[name]);
    const tilt = numberIn(attributes, "current_tilt_position");
    const tilting = commands({
      openTilt: can("openTilt"),
      closeTilt: can("closeTilt"),
      stopTilt: can("stopTilt"),
    });
    return {
      kind: "cover",
      capabilities: {
        position: can("setPosition") ? PERCENT : PERCENT_READ,
        ...choice("action", MOVEMENTS, true),
        ...commands({ open: can("open"), close: can("close"), stop: can("stop") }),
        ...when(can("setTilt") || tilt !== undefined, {
          tilt: can("setTilt") ? PERCENT : PERCENT_READ,
        }),
      },
      ...when(Object.keys(tilting).length > 0, { extra: extras(tilting) }),
      state: { position: positionOf(entity), action: movementOf(entity), tilt },
    };
  },

  calls: (command) =>
    callsFor(command, {
      stop: () => ({ service: "cover.stop_cover" }),
      open: () => ({ service: "cover.open_cover" }),
      close: () => ({ service: "cover.close_cover" }),
      position: (position) => ({
        service: "cover.set_cover_position",
        data: { position: whole(position) },
      }),
      tilt: (tilt) => ({
        service: "cover.set_cover_tilt_position",
        data: { tilt_position: whole(tilt) },
      }),
      stopTilt: () => ({ service: "cover.stop_cover_tilt" }),
      openTilt: () => ({ service: "cover.open_cover_tilt" }),
      closeTilt: () => ({ service: "cover.close_cover_tilt" }),
    }),

  /** A blind takes half a minute, so a way that has begun in the right direction counts. */
  confirms({ field, value }, entity, before) {
    if (field === "position") return isOnTheWay(Number(value), entity, before) || undefined;
    return confirmsMovement(field, entity);
  },
};

/** True if a cover or valve moves towards a position. */
export function isOnTheWay(position: number, entity: Entity, before: Entity): boolean {
  const from = positionOf(entity) ?? positionOf(before);
  if (from === null || position === from) return false;
  return entity.state === (position > from ? "opening" : "closing");
}

/** True if a cover or valve has obeyed `open`, `close` or `stop`; `undefined` for other fields. */
export function confirmsMovement(field: string, entity: Entity): boolean | undefined {
  const { state } = entity;
  switch (field) {
    case "open":
      return state === "opening" || state === "open";
    case "close":
      return state === "closing" || state === "closed";
    case "stop":
      return movementOf(entity) === "stopped";
    default:
      return undefined;
  }
}

/** Covers and valves that do not tell their position are open or closed. */
export function positionOf(entity: Entity): number | null {
  const position = numberIn(entity.attributes, "current_position");
  if (position !== undefined) return position;
  if (entity.state === "open") return 100;
  return entity.state === "closed" ? 0 : null;
}

export function movementOf(entity: Entity): string | null {
  const { state } = entity;
  if (!isKnown(entity)) return null;
  return state === "opening" || state === "closing" ? state : "stopped";
}
