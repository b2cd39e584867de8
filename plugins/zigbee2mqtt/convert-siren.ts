import { type Draft, draftOf, plainDrafts } from "./drafts.ts";
import { ACCESS, type Expose } from "./exposes.ts";
import type { Form } from "./feature.ts";
import { formOf, isSettable } from "./forms.ts";

const SILENT = "stop";

/** True for what makes noise when it is set: a `warning` with a mode that ends it, or an `alarm` switch. */
export function isSiren(expose: Expose): boolean {
  if (expose.name === "alarm") return expose.type === "binary" && isSettable(expose);
  return expose.name === "warning" && noisesOf(expose) !== undefined;
}

const TONES = new Set(["melody", "ringtone", "alarm_melody"]);

/** The switch of a siren, and what it exposes for its sound; `undefined` for all else. */
export function sirenDrafts(expose: Expose): Draft[] | undefined {
  const { name, type } = expose;
  if (isSiren(expose)) {
    return name === "alarm"
      ? [draftOf(expose, formOf(expose), { name: "on" })]
      : [switchOf(expose), ...plainDrafts(expose)];
  }
  if (TONES.has(name)) return [draftOf(expose, formOf(expose), { name: "tone" })];
  const isLevel = (name === "volume" || name === "duration") && type === "numeric";
  return isLevel ? [draftOf(expose, formOf(expose), { name })] : undefined;
}

/** A siren that is warned with is never reported: it is as it was told. */
function switchOf(expose: Expose): Draft {
  const noises = noisesOf(expose) ?? [];
  const [noise = SILENT] = noises;
  const form: Form = {
    capability: { type: "boolean" },
    read: (raw) => (raw === SILENT ? false : noises.includes(String(raw)) ? true : null),
    write: (value) => (value === true ? noise : SILENT),
  };
  return draftOf({ ...expose, access: ACCESS.settable }, form, {
    name: "on",
    path: [expose.property, "mode"],
    leaves: (on) => ({ on }),
  });
}

/** The modes that make noise, the one for an emergency first; `undefined` if it cannot be set or ended. */
function noisesOf({ features, access }: Expose): string[] | undefined {
  const mode = features.find(({ name }) => name === "mode");
  const isSet = mode && isSettable({ ...mode, access: mode.access || access });
  if (!isSet || !mode.values.includes(SILENT)) return undefined;
  const noises = mode.values.filter((value) => value !== SILENT);
  return noises.toSorted(
    (one, other) => Number(other === "emergency") - Number(one === "emergency"),
  );
}
