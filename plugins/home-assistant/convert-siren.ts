import { choicesBy, hasFeature, when } from "./attributes.ts";
import { choice, type Domain, onOff, PERCENT, SWITCH, YES_NO } from "./domain.ts";
import { type Attributes, record } from "./entities.ts";

const FEATURE = { turnOn: 1, turnOff: 2, tones: 4, volume: 8, duration: 16 } as const;
const SECONDS = { type: "number", min: 0, max: 86_400, step: 1, unit: "s" } as const;

/** `siren`. Tone, volume and duration go with the call that turns it on, and are not reported. */
export const siren: Domain = {
  describe(entity) {
    const { attributes } = entity;
    const has = (name: keyof typeof FEATURE): boolean => hasFeature(attributes, FEATURE[name]);
    return {
      kind: "siren",
      capabilities: {
        on: has("turnOn") || has("turnOff") ? SWITCH : YES_NO,
        ...choice("tone", tonesOf(attributes)),
        ...when(has("volume"), { volume: PERCENT }),
        ...when(has("duration"), { duration: SECONDS }),
      },
      state: { on: onOff(entity) },
    };
  },

  calls({ on, tone, volume, duration }) {
    if (on === undefined) return [];
    if (on === false) return [{ service: "siren.turn_off" }];
    const data = {
      ...when(tone !== undefined, { tone }),
      ...when(volume !== undefined, { volume_level: Number(volume) / 100 }),
      ...when(duration !== undefined, { duration: Math.round(Number(duration)) }),
    };
    return [{ service: "siren.turn_on", data }];
  },

  stored: ["tone", "volume", "duration"],
};

/** A list of tones, or an object whose values are their names. */
function tonesOf(attributes: Attributes): string[] {
  const tones = attributes["available_tones"];
  const names = Array.isArray(tones) ? tones : Object.values(record(tones));
  return choicesBy({ ...attributes, tones: names.map(String) }, FEATURE.tones, "tones");
}
