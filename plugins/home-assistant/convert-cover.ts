import { hasFeature, numberIn, when } from "./attributes.ts";
import {
  callsFor,
  choice,
  commands,
  type Confirmation,
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
    if (field === "tilt")
      return isNearer(Number(value), tiltOf(entity), tiltOf(before)) || undefined;
    return confirmsMovement(field, entity, before);
  },
};

/** True if a cover or valve moves towards a position, or has come nearer to it. */
export function isOnTheWay(position: number, entity: Entity, before: Entity): boolean {
  const start = positionOf(before);
  const from = positionOf(entity) ?? start;
  if (from === null || position === from) return false;
  if (isMoving(entity)) return entity.state === (position > from ? "opening" : "closing");
  return isNearer(position, from, start);
}

function isNearer(to: number, now: number | null, before: number | null): boolean {
  return now !== null && before !== null && Math.abs(to - now) < Math.abs(to - before);
}

/**
 * The confirmation of `open`, `close` and `stop` by a cover or valve; `undefined` for other fields. `open` is the state
 * at every position above 0, so that it shows only with a change that a cover has obeyed. One that was already as
 * requested has nothing to show.
 */
export function confirmsMovement(field: string, entity: Entity, before: Entity): Confirmation {
  switch (field) {
    case "open":
      return confirmsEnd(entity, before, OPEN);
    case "close":
      return confirmsEnd(entity, before, CLOSED);
    case "stop":
      return isMoving(entity) ? false : isMoving(before) || "answered";
    default:
      return undefined;
  }
}

/** An end of the way of a cover or valve. */
interface End {
  readonly position: number;
  /** The state on the way there. */
  readonly moving: string;
  readonly isThere: (entity: Entity) => boolean;
}

const OPEN: End = {
  position: 100,
  moving: "opening",
  isThere: (entity) => entity.state === "open" && positionOf(entity) === 100,
};
const CLOSED: End = {
  position: 0,
  moving: "closing",
  isThere: ({ state }) => state === "closed",
};

function confirmsEnd(entity: Entity, before: Entity, end: End): Confirmation {
  if (isMoving(entity)) return entity.state === end.moving;
  if (end.isThere(entity)) return !end.isThere(before) || "answered";
  return isNearer(end.position, positionOf(entity), positionOf(before));
}

const isMoving = ({ state }: Entity) => state === "opening" || state === "closing";

const tiltOf = ({ attributes }: Entity) => numberIn(attributes, "current_tilt_position") ?? null;

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
  return isMoving(entity) ? state : "stopped";
}
