import { type Draft, draftOf, plainDrafts } from "./drafts.ts";
import { ACCESS, type Expose } from "./exposes.ts";
import type { Form } from "./feature.ts";
import { formOf, isSettable, isTold } from "./forms.ts";

/** Words for silence, in the order in which they are preferred. */
const SILENT = ["stop", "off", "normal"];
/** Words for the noise that is made by `on`, the loudest first. */
const LOUDEST = ["emergency", "alarm_sound_light", "sound_light"];
/** Choices of a noise, as definitions name them. */
const NOISES = new Set(["alarm", "alarm_state"]);
const TONES = new Set(["melody", "ringtone", "alarm_melody", "alarm_ringtone", "alarm_ring"]);
const LEVELS: Readonly<Record<string, string>> = {
  volume: "volume",
  duration: "duration",
  alarm_time: "duration",
};

/** True for what makes noise when it is set: a switch, or a choice with a word that ends it. */
export function isSiren(expose: Expose): boolean {
  return isSwitch(expose) || choiceOf(expose) !== undefined;
}

const isSwitch = (expose: Expose): boolean =>
  expose.name === "alarm" && expose.type === "binary" && isSettable(expose);

/** The switch of a siren, and what it exposes for its sound; `undefined` for all else. */
export function sirenDrafts(expose: Expose): Draft[] | undefined {
  const { name, type } = expose;
  if (isSwitch(expose)) return [draftOf(expose, formOf(expose), { name: "on" })];
  const choice = choiceOf(expose);
  if (choice) return [switchOf(expose, choice), ...plainDrafts(expose)];
  if (TONES.has(name)) return [draftOf(expose, formOf(expose), { name: "tone" })];
  const level = type === "numeric" && Object.hasOwn(LEVELS, name) ? LEVELS[name] : undefined;
  return level === undefined ? undefined : [draftOf(expose, formOf(expose), { name: level })];
}

/** The choice of a noise: the values that make one, and the one that ends it. */
interface Choice {
  readonly path: readonly string[];
  readonly silent: string;
  readonly noises: readonly string[];
  /** False for a warning, which is never reported: the siren is as it was told. */
  readonly isTold: boolean;
}

function choiceOf(expose: Expose): Choice | undefined {
  const { name, type, property, features, access } = expose;
  if (name === "warning") {
    const mode = features.find((each) => each.name === "mode");
    const isSet = mode && isSettable({ ...mode, access: mode.access || access });
    return isSet ? noisesOf(mode, { path: [property, "mode"], isTold: false }) : undefined;
  }
  const isChoice = NOISES.has(name) && type === "enum" && isSettable(expose);
  return isChoice ? noisesOf(expose, { path: [property], isTold: isTold(expose) }) : undefined;
}

function noisesOf({ values }: Expose, place: Pick<Choice, "path" | "isTold">): Choice | undefined {
  const silent = SILENT.find((each) => values.includes(each));
  const noises = values.filter((value) => value !== silent);
  if (silent === undefined || noises.length === 0) return undefined;
  return { ...place, silent, noises };
}

function switchOf(expose: Expose, { path, silent, noises, isTold: isReported }: Choice): Draft {
  const noise = LOUDEST.find((each) => noises.includes(each)) ?? noises[0];
  const form: Form = {
    capability: { type: "boolean" },
    read: (raw) => (raw === silent ? false : noises.includes(String(raw)) ? true : null),
    write: (value) => (value === true ? noise : silent),
  };
  const access = isReported ? expose.access : ACCESS.settable;
  return draftOf({ ...expose, access }, form, {
    name: "on",
    path,
    ...(isReported ? {} : { leaves: (on) => ({ on }) }),
  });
}
