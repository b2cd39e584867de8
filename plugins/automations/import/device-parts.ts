import type { Match } from "./entities.ts";
import { type Fields, type Scope, textOf, Unmappable } from "./scope.ts";

/** States that types of device triggers and device conditions mean, by domain. */
const STATES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  cover: { opened: "open", open: "open", closed: "closed", opening: "opening", closing: "closing" },
  lock: { locked: "locked", unlocked: "unlocked" },
  media_player: {
    ...{ playing: "playing", paused: "paused", idle: "idle" },
    ...{ turned_on: "on", turned_off: "off", on: "on", off: "off" },
  },
  vacuum: { cleaning: "cleaning", docked: "docked" },
  device_tracker: { home: "home", not_home: "not_home" },
  alarm_control_panel: {
    ...{ triggered: "triggered", disarmed: "disarmed", armed_home: "armed_home" },
    ...{ armed_away: "armed_away", armed_night: "armed_night" },
  },
};

/** Types of a binary sensor that mean off, besides those that begin with `no_` and `not_`. */
const YES = [
  ...[
    "motion",
    "occupied",
    "opened",
    "open",
    "moist",
    "smoke",
    "gas",
    "sound",
    "vibration",
    "tampered",
  ],
  ...[
    "present",
    "powered",
    "plugged_in",
    "problem",
    "connected",
    "bat_low",
    "light",
    "hot",
    "cold",
  ],
  ...["running", "unsafe", "moving", "co", "detected", "turned_on", "on"],
];

/** An entity with the name of a device: its own id, or the id of its device in the registry of Home Assistant. */
export function entityOfDevice(
  { entity_id: entity, device_id: device }: Fields,
  domain: string,
): string {
  if (entity !== undefined) {
    const text = textOf(entity, "entity_id");
    return text.includes(".") ? text : `${domain}.registry_${text}`;
  }
  return `${domain || "device"}.device_${textOf(device, "device_id")}`;
}

/** The state that a type such as `turned_on` or `is_not_open` means; `undefined` for other types. */
export function stateOfType(domain: string, type: string): string | undefined {
  const plain = type.replace(/^is_/, "");
  const states = Object.hasOwn(STATES, domain) ? STATES[domain] : undefined;
  if (states) return Object.hasOwn(states, plain) ? states[plain] : undefined;
  if (plain === "turned_off" || plain === "off") return "off";
  const isNot = /^(no|not)_/.test(plain);
  const base = plain.replace(/^(no|not)_/, "");
  return YES.includes(base) ? (isNot ? "off" : "on") : undefined;
}

/** The device of a trigger, condition or action of a device, with the field that the type means. */
export function matchOfType(scope: Scope, fields: Fields, type: string): Match {
  const domain = fields["domain"] === undefined ? "" : textOf(fields["domain"], "domain");
  const match = scope.match(entityOfDevice(fields, domain));
  if (domain !== "binary_sensor" && domain !== "sensor") return match;
  const field = FIELDS.find(([word]) => word.test(type))?.[1];
  if (field === undefined) return match;
  if (match.capabilities && match.capabilities[field] === undefined) {
    throw new Unmappable(`the device of ${match.entity} has no "${field}"`);
  }
  return { ...match, field };
}

const FIELDS: readonly (readonly [RegExp, string])[] = [
  [/motion/, "motion"],
  [/occupied/, "occupancy"],
  [/open/, "contact"],
  [/moist/, "waterLeak"],
  [/smoke/, "smoke"],
  [/vibration/, "vibration"],
  [/tampered/, "tamper"],
  [/bat_low/, "batteryLow"],
  [/battery/, "battery"],
  [/temperature/, "temperature"],
  [/humidity/, "humidity"],
  [/illuminance/, "illuminance"],
  [/power/, "power"],
  [/energy/, "energy"],
  [/carbon_dioxide/, "co2"],
];
