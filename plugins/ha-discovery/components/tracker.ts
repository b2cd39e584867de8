import type { DeviceState } from "@mantel/plugin-sdk";
import { type CreateHandler, inputs, UNKNOWN } from "../component-handler.ts";
import { DiscoveryError } from "../discovery-error.ts";
import { jsonIn } from "../payload.ts";
import { isDict, numberOf } from "../template/values.ts";
import { type NumberCapability, PERCENT_READING, present, SHOWN, YES_NO } from "./capabilities.ts";

const degrees = (most: number): NumberCapability => ({
  type: "number",
  unit: "°",
  min: -most,
  max: most,
  readOnly: true,
});
const METRES: NumberCapability = { type: "number", unit: "m", min: 0, readOnly: true };

/** The fields of a position by the names of Home Assistant's attributes. */
const ATTRIBUTES = [
  ["latitude", "latitude"],
  ["longitude", "longitude"],
  ["accuracy", "gps_accuracy"],
  ["battery", "battery_level"],
] as const;

/** Where somebody or something is: a place by its name, and coordinates among the attributes. */
export const tracker: CreateHandler = (options) => {
  const [home, away, reset] = [
    options.text("payload_home", "home"),
    options.text("payload_not_home", "not_home"),
    options.text("payload_reset", UNKNOWN),
  ];
  const places = inputs(options, ["state_topic", "value_template"], (text) => {
    if (text === "") return undefined;
    if (text === reset) return { home: null, zone: null };
    if (text === home || text === away) return { home: text === home, zone: null };
    return { home: false, zone: text };
  });
  const attributes = inputs(
    options,
    ["json_attributes_topic", "json_attributes_template"],
    attributesIn,
  );
  if (places.length + attributes.length === 0) {
    throw new DiscoveryError("a tracker needs state_topic or json_attributes_topic");
  }
  const isPlaced = places.length > 0;
  const isLocated = attributes.length > 0;
  return {
    leads: "tracker",
    capabilities: present([
      ["home", isPlaced ? YES_NO : undefined],
      ["zone", isPlaced ? SHOWN : undefined],
      ["latitude", isLocated ? degrees(90) : undefined],
      ["longitude", isLocated ? degrees(180) : undefined],
      ["accuracy", isLocated ? METRES : undefined],
      ["battery", isLocated ? PERCENT_READING : undefined],
    ]),
    inputs: [...places, ...attributes],
  };
};

function attributesIn(text: string): DeviceState | undefined {
  const told = jsonIn(text);
  if (!isDict(told)) return undefined;
  const entries = ATTRIBUTES.flatMap(([name, theirs]) => {
    const number = numberOf(told.get(theirs));
    return number === undefined ? [] : [[name, number] as const];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
