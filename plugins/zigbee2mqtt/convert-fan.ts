import { percentToSpeed, speedToPercent } from "@mantel/plugin-sdk";
import { type Draft, draftOf, plainDrafts } from "./drafts.ts";
import type { Expose } from "./exposes.ts";
import type { Form } from "./feature.ts";
import { formOf } from "./forms.ts";

/** More steps than this are a number and not speeds. */
const MOST_SPEEDS = 1_000;

/** Names of speeds, slowest first; numbers are speeds too. */
const SPEEDS = ["quiet", "low", "low-med", "medium", "med-high", "high", "turbo", "max"];
/** Words that say only that the fan runs or does not. */
const SWITCHED = new Set(["on", "off"]);

/** A fan with an own switch has speeds and programmes; one without has them under the name of its mode. */
export function fanDrafts({ features }: Expose): Draft[] {
  const isSwitched = features.some(({ name }) => name === "state");
  return features.flatMap((each) => {
    if (each.name === "state") return [draftOf(each, formOf(each), { name: "on" })];
    if (each.name === "speed") return numbered(each);
    if (each.name !== "mode") return plainDrafts(each);
    return isSwitched ? modes(each) : [draftOf(each, formOf(each), { name: "fanMode" })];
  });
}

/** A numeric speed: each step is one speed, and the greatest is 100 %. */
function numbered(expose: Expose): Draft[] {
  const { min = 0, max = 100, step = 1 } = expose;
  const stride = step > 0 ? step : 1;
  const lowest = min > 0 ? min : stride;
  const count = Math.floor((max - lowest) / stride) + 1;
  if (!(count >= 1 && count <= MOST_SPEEDS)) return plainDrafts(expose);
  const raws = Array.from({ length: count }, (_, at) => lowest + at * stride);
  const form = speeds(raws, min > 0 ? undefined : 0);
  return [draftOf(expose, { ...form, isNothing: () => false }, { name: "speed" })];
}

/** Modes such as `low`, `3` and `auto`: the speeds among them, and the programmes. */
function modes(expose: Expose): Draft[] {
  const { values } = expose;
  const found = values.filter(isSpeed).toSorted((one, other) => rankOf(one) - rankOf(other));
  const programmes = values.filter((value) => !isSpeed(value) && !SWITCHED.has(value));
  if (found.length === 0) return plainDrafts(expose);
  const isNothing = (raw: unknown) => values.includes(String(raw));
  const speed = speeds(found, values.includes("off") ? "off" : undefined);
  const preset = { ...formOf({ ...expose, values: programmes }), isNothing };
  return [
    draftOf(expose, { ...speed, isNothing }, { name: "speed" }),
    ...(programmes.length > 0 ? [draftOf(expose, preset, { name: "preset" })] : []),
  ];
}

const isSpeed = (value: string): boolean => SPEEDS.includes(value) || /^\d{1,6}$/.test(value);

const rankOf = (speed: string): number =>
  SPEEDS.includes(speed) ? SPEEDS.indexOf(speed) : Number(speed);

/** Speeds in percent, slowest first; `off` is the word for none, if there is one. */
function speeds(raws: readonly (string | number)[], off: string | number | undefined): Form {
  const count = raws.length;
  const step = 100 / count;
  const percents = new Map(raws.map((raw, at) => [String(raw), speedToPercent(at + 1, count)]));
  const write = (percent: number) => {
    const at = percentToSpeed(percent, count);
    return at === 0 && off !== undefined ? off : raws[Math.max(0, at - 1)];
  };
  return {
    capability: { type: "number", min: off === undefined ? step : 0, max: 100, step, unit: "%" },
    read: (raw) => (String(raw) === String(off) ? 0 : (percents.get(String(raw)) ?? null)),
    write: (value) => write(Number(value)),
    confirms: (raw, written) => String(raw) === String(written),
  };
}
