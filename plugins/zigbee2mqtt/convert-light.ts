import { toKelvin, toLevel, toMired, toPercent } from "@mantel/plugin-sdk";
import { colorDraft, colorModeIn, isColor } from "./convert-color.ts";
import { type Draft, draftOf, plainDrafts } from "./drafts.ts";
import type { Expose } from "./exposes.ts";
import type { Form } from "./feature.ts";
import { formOf, isWithin } from "./forms.ts";

/** A light with two colour formats is set in one of them. */
export function lightDrafts({ features }: Expose): Draft[] {
  const [first, ...rest] = features.filter(isColor);
  const others = features.filter((each) => !isColor(each));
  return [...others.flatMap(partOfLight), ...(first ? [colorDraft([first, ...rest])] : [])];
}

function partOfLight(expose: Expose): Draft[] {
  switch (expose.name) {
    case "state":
      return [draftOf(expose, formOf(expose), { name: "on" })];
    case "brightness":
      return [draftOf(expose, brightness(expose), { name: "brightness" })];
    case "color_temp":
      return [
        draftOf(expose, colorTemperature(expose), {
          name: "colorTemperature",
          isUnused: (payload) => ["xy", "hs"].includes(colorModeIn(payload, expose)),
        }),
      ];
    case "color_temp_startup":
      return [draftOf(expose, colorTemperature(expose))];
    default:
      return plainDrafts(expose);
  }
}

function brightness({ max: told = 254 }: Expose): Form {
  const max = told >= 1 ? told : 254;
  return {
    capability: { type: "number", min: 0, max: 100, unit: "%" },
    read: (raw) => (isWithin(raw, 0, max) ? toPercent(raw, max) : null),
    write: (value) => toLevel(Number(value), max),
    confirms: isNextTo,
  };
}

function colorTemperature({ min: least = 50, max: most = 1_000 }: Expose): Form {
  const [min, max] = least <= most ? [least, most] : [50, 1_000];
  const [coldest, warmest] = [toKelvin(min), toKelvin(max)];
  return {
    capability: { type: "number", min: warmest, max: coldest, unit: "K" },
    read: (raw) => (isWithin(raw, min, max) ? toKelvin(raw) : null),
    write: (value) => Math.min(max, Math.max(min, toMired(Number(value)))),
    confirms: isNextTo,
  };
}

const isNextTo = (raw: unknown, written: unknown): boolean =>
  Math.abs(Number(raw) - Number(written)) <= 1;
