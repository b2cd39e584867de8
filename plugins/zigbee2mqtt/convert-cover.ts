import { type Draft, draftOf, plainDrafts } from "./drafts.ts";
import { ACCESS, type Expose } from "./exposes.ts";
import type { Form } from "./feature.ts";
import { commandOf, formOf, isSettable, isWithin, renamedChoice } from "./forms.ts";

/** Commands by the words that they have in the state of a cover, and the position to which they lead. */
const COMMANDS = [
  ["open", "OPEN", 100],
  ["close", "CLOSE", 0],
  ["stop", "STOP", undefined],
] as const;

/** A cover opens and closes by commands, also without a position. */
export function coverDrafts({ features }: Expose): Draft[] {
  const hasPosition = features.some(({ name }) => name === "position");
  return features.flatMap((each) => {
    const place = positionDraft(each);
    if (place) return [place];
    if (each.name !== "state") return plainDrafts(each);
    return [...commands(each), ...(hasPosition ? [] : [reportedState(each)])];
  });
}

/** The position or the tilt of a cover or a valve; `undefined` for all else. */
export function positionDraft(expose: Expose): Draft | undefined {
  const { name, type } = expose;
  if (type !== "numeric" || (name !== "position" && name !== "tilt")) return undefined;
  return draftOf(expose, percent(expose), { name, leaves: (value) => ({ [name]: value }) });
}

/** Without a position, the state is the only report. */
function reportedState(expose: Expose): Draft {
  const access = expose.access & ~ACCESS.settable;
  return draftOf({ ...expose, access }, formOf(expose), { leaves: () => ({}) });
}

function commands(expose: Expose): Draft[] {
  if (!isSettable(expose)) return [];
  return COMMANDS.flatMap(([name, word, position]) => {
    const theirs = expose.values.find((value) => value.toUpperCase() === word);
    if (theirs === undefined) return [];
    const form = commandOf(theirs);
    const leaves = () => (position === undefined ? {} : { position });
    return [draftOf(expose, form, { name, isConfirmedByAny: true, leaves })];
  });
}

/** A position in percent, whatever its definition says about the range. */
function percent({ min = 0, max = 100 }: Expose): Form {
  const [closed, open] = min < max ? [min, max] : [0, 100];
  const scale = (open - closed) / 100;
  return {
    capability: { type: "number", min: 0, max: 100, unit: "%" },
    read: (raw) => (isWithin(raw, closed, open) ? (raw - closed) / scale : null),
    write: (value) => Math.round(closed + Number(value) * scale),
    confirms: (raw, written) => Math.abs(Number(raw) - Number(written)) <= 0.5,
  };
}

const MOVEMENTS: Readonly<Record<string, string>> = {
  UP: "opening",
  OPEN: "opening",
  opening: "opening",
  open: "opening",
  DOWN: "closing",
  CLOSE: "closing",
  closing: "closing",
  close: "closing",
  STOP: "stopped",
  stop: "stopped",
  stopped: "stopped",
  pause: "stopped",
  standby: "stopped",
  blocked: "stopped",
};

/** The movement of a cover, if an exposed choice is one; other values stand for a cover that is still. */
export function movementDraft(expose: Expose): Draft | undefined {
  const isMovement =
    expose.type === "enum" && expose.values.every((value) => Object.hasOwn(MOVEMENTS, value));
  const hasWords = expose.values.length > 1;
  return isMovement && hasWords
    ? draftOf(expose, renamedChoice(expose, MOVEMENTS), { name: "action" })
    : undefined;
}
