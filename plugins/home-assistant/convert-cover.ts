import { hasFeature, numberIn, when } from "./attributes.ts";
import { choice, type Domain, isKnown, PERCENT, PERCENT_READ } from "./domain.ts";
import type { Entity } from "./entities.ts";

const SET_POSITION = 4;
const STOP = 8;
const OPEN_AND_CLOSE = 3;
const SET_TILT = 128;

const MOVES = { opening: "open_cover", closing: "close_cover", stopped: "stop_cover" } as const;
type Move = keyof typeof MOVES;

/** `cover`: 100 is open on both sides. `moving` takes commands: to open, to close, to stop. */
export const cover: Domain = {
  describe(entity) {
    const { attributes } = entity;
    const tilt = numberIn(attributes, "current_tilt_position");
    const canTilt = hasFeature(attributes, SET_TILT);
    const canMove = hasFeature(attributes, OPEN_AND_CLOSE | STOP);
    return {
      kind: "cover",
      capabilities: {
        position: hasFeature(attributes, SET_POSITION) ? PERCENT : PERCENT_READ,
        ...choice("moving", ["opening", "closing", "stopped"], !canMove),
        ...when(canTilt || tilt !== undefined, { tilt: canTilt ? PERCENT : PERCENT_READ }),
      },
      state: {
        position: positionOf(entity),
        moving: isKnown(entity) ? movingOf(entity) : null,
        tilt,
      },
    };
  },

  calls({ position, moving, tilt }) {
    return [
      ...(moving === undefined ? [] : [{ service: `cover.${MOVES[moving as Move]}` }]),
      ...(position === undefined
        ? []
        : [{ service: "cover.set_cover_position", data: { position } }]),
      ...(tilt === undefined
        ? []
        : [{ service: "cover.set_cover_tilt_position", data: { tilt_position: tilt } }]),
    ];
  },

  /** A blind takes half a minute, so a way that has begun in the right direction counts. */
  confirms({ field, value }, entity, before) {
    const { state } = entity;
    if (field === "moving") {
      if (value === "stopped") return movingOf(entity) === "stopped";
      return state === value || state === (value === "opening" ? "open" : "closed");
    }
    const from = positionOf(before);
    if (field !== "position" || from === null || typeof value !== "number") return undefined;
    return movingOf(entity) === (value > from ? "opening" : "closing") || undefined;
  },
};

/** Covers that do not tell their position are open or closed. */
function positionOf(entity: Entity): number | null {
  const position = numberIn(entity.attributes, "current_position");
  if (position !== undefined) return position;
  if (entity.state === "open") return 100;
  return entity.state === "closed" ? 0 : null;
}

function movingOf({ state }: Entity): Move {
  return state === "opening" || state === "closing" ? state : "stopped";
}
