import { textIn } from "./attributes.ts";
import { type Domain, extras, isKnown, YES_NO } from "./domain.ts";

/** The readings of the vocabulary, by device class. */
const FIELDS: ReadonlyMap<string, string> = new Map([
  ["battery", "batteryLow"],
  ["battery_charging", "charging"],
  ["carbon_monoxide", "carbonMonoxide"],
  ["cold", "cold"],
  ["connectivity", "connected"],
  ["door", "contact"],
  ["garage_door", "contact"],
  ["gas", "gas"],
  ["heat", "hot"],
  ["light", "lightDetected"],
  ["moisture", "waterLeak"],
  ["motion", "motion"],
  ["moving", "moving"],
  ["occupancy", "occupancy"],
  ["opening", "contact"],
  ["plug", "pluggedIn"],
  ["power", "poweredOn"],
  ["presence", "presence"],
  ["problem", "problem"],
  ["running", "running"],
  ["safety", "unsafe"],
  ["smoke", "smoke"],
  ["sound", "sound"],
  ["tamper", "tamper"],
  ["update", "updateAvailable"],
  ["vibration", "vibration"],
  ["window", "contact"],
]);

/** `binary_sensor`: a reading named after the device class. */
export const binarySensor: Domain = {
  describe(entity) {
    const named = textIn(entity.attributes, "device_class") ?? "";
    const isOn = isKnown(entity) ? entity.state === "on" : null;
    const field = FIELDS.get(named) ?? "active";
    // a door that is "on" is open, and a lock that is "on" is unlocked
    const value = field === "contact" && isOn !== null ? !isOn : isOn;
    const isLock = named === "lock";
    return {
      kind: "binary-sensor",
      capabilities: { [field]: YES_NO },
      ...(isLock ? { extra: extras({ unlocked: YES_NO }) } : {}),
      state: { [field]: value, ...(isLock ? { unlocked: isOn } : {}) },
    };
  },
};
