import { numberIn, when } from "./attributes.ts";
import { type Domain, isKnown, PERCENT_READ, TEXT, YES_NO } from "./domain.ts";

const DEGREES = { type: "number", unit: "°", readOnly: true } as const;
const POSITION = {
  latitude: { ...DEGREES, min: -90, max: 90 },
  longitude: { ...DEGREES, min: -180, max: 180 },
  accuracy: { type: "number", min: 0, unit: "m", readOnly: true },
} as const;

/** The states that are not the name of a place besides the home. */
const NOT_NAMED = new Set(["home", "not_home"]);

/** `device_tracker` and `person`: their state is `home`, `not_home` or the name of a zone. */
export const tracker: Domain = {
  describe(entity) {
    const { attributes, domain, state } = entity;
    const hasPosition =
      domain === "person" ||
      attributes["source_type"] === "gps" ||
      attributes["latitude"] !== undefined;
    const battery = numberIn(attributes, "battery_level");
    return {
      kind: "tracker",
      capabilities: {
        home: YES_NO,
        zone: TEXT,
        ...when(hasPosition, POSITION),
        ...when(battery !== undefined, { battery: PERCENT_READ }),
      },
      state: {
        home: isKnown(entity) ? state === "home" : null,
        zone: isKnown(entity) && !NOT_NAMED.has(state) ? state : null,
        // a person at home may have no coordinates any more
        latitude: numberIn(attributes, "latitude") ?? null,
        longitude: numberIn(attributes, "longitude") ?? null,
        accuracy: numberIn(attributes, "gps_accuracy") ?? null,
        battery,
      },
    };
  },
};
