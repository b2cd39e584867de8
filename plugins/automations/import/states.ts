import type { StateValue } from "@mantel/plugin-sdk";
import type { Match } from "./entities.ts";
import { Unmappable } from "./scope.ts";

/** The meaning of a state of Home Assistant: a field with one value, or with a value above a limit. */
export interface Meaning {
  readonly field: string;
  readonly value?: StateValue;
  readonly above?: number;
}

/** Fields of yes or no by words in the names of entities, or by the classes of Home Assistant. */
const YES_NO: readonly (readonly [word: RegExp, field: string])[] = [
  [/motion|pir|bewegung/, "motion"],
  [/occupan|presence_sensor|besetzt/, "occupancy"],
  [/door|window|contact|opening|opened|gate|fenster|t(ue|u)r_/, "contact"],
  [/leak|water|moist|flood/, "waterLeak"],
  [/smoke|rauch/, "smoke"],
  [/carbon_monoxide/, "carbonMonoxide"],
  [/\bgas\b|_gas/, "gas"],
  [/vibration/, "vibration"],
  [/tamper/, "tamper"],
  [/sound/, "sound"],
  [/bat_low|battery_low|low_battery/, "batteryLow"],
  [/plugged/, "pluggedIn"],
  [/connect/, "connected"],
  [/problem/, "problem"],
  [/presen/, "presence"],
];
const YES_NO_FIELDS = [
  ...new Set([...YES_NO.map(([, field]) => field), "active", "raining", "running", "charging"]),
  ...["moving", "lightDetected", "unsafe", "cold", "hot", "poweredOn", "updateAvailable", "sos"],
];

/** Domains whose entities are on or off. */
const ON_OFF = [
  ...["light", "switch", "input_boolean", "fan", "siren", "humidifier", "valve", "group", "remote"],
];

const CLIMATE_MODES: Readonly<Record<string, string>> = {
  heat_cool: "heat-cool",
  fan_only: "fan-only",
};
/** The mode of a thermostat in our words. */
export const modeOf = (mode: string): string =>
  Object.hasOwn(CLIMATE_MODES, mode) ? (CLIMATE_MODES[mode] ?? mode) : mode;

const ALARM: Readonly<Record<string, Meaning>> = {
  disarmed: { field: "mode", value: "disarmed" },
  armed_home: { field: "mode", value: "home" },
  armed_away: { field: "mode", value: "away" },
  armed_night: { field: "mode", value: "night" },
  armed_vacation: { field: "mode", value: "vacation" },
  armed_custom_bypass: { field: "mode", value: "custom" },
  triggered: { field: "status", value: "triggered" },
  pending: { field: "status", value: "pending" },
  arming: { field: "status", value: "arming" },
};
const MEDIA: Readonly<Record<string, Meaning>> = {
  on: { field: "on", value: true },
  off: { field: "on", value: false },
  standby: { field: "on", value: false },
  playing: { field: "playback", value: "playing" },
  paused: { field: "playback", value: "paused" },
  idle: { field: "playback", value: "stopped" },
};
const SWITCHED: Readonly<Record<string, Meaning>> = {
  on: { field: "on", value: true },
  off: { field: "on", value: false },
};
const VALVE: Readonly<Record<string, Meaning>> = {
  ...SWITCHED,
  open: { field: "on", value: true },
  closed: { field: "on", value: false },
};
const LOCK: Readonly<Record<string, Meaning>> = {
  locked: { field: "locked", value: true },
  unlocked: { field: "locked", value: false },
};
const COVER: Readonly<Record<string, Meaning>> = {
  open: { field: "position", above: 0 },
  closed: { field: "position", value: 0 },
  opening: { field: "action", value: "opening" },
  closing: { field: "action", value: "closing" },
};

/** The fields that the states of domains are here. */
const MAIN_FIELDS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(ON_OFF.map((domain) => [domain, "on"])),
  cover: "position",
  climate: "mode",
  alarm_control_panel: "mode",
  water_heater: "mode",
  lock: "locked",
  media_player: "playback",
  vacuum: "action",
  lawn_mower: "action",
  person: "zone",
  device_tracker: "home",
  weather: "condition",
  event: "lastAction",
};

/** The field that a change of the state of an entity is here. @throws Unmappable */
export function mainField(match: Match): string {
  const field = match.field ?? own(MAIN_FIELDS, match.domain);
  if (field !== undefined) return at(match, field);
  return at(match, match.domain === "binary_sensor" ? yesNoField(match) : valueField(match));
}

/** A state of Home Assistant as a field and a value. @throws Unmappable for a state that is unknown here */
export function meaningOf(match: Match, state: string): Meaning {
  const { domain } = match;
  if (state === "unavailable") return { field: "available", value: false };
  if (state === "unknown")
    throw new Unmappable(`the state "unknown" of ${match.entity} has no counterpart`);
  const meaning = own(MEANINGS, domain)?.(state, match);
  if (meaning) return { ...meaning, field: at(match, meaning.field) };
  const isText = ["sensor", "select", "input_select", "input_text", "text", "weather", "event"];
  if (isText.includes(domain)) return textMeaning(match, state);
  if (domain === "number" || domain === "input_number") {
    return { field: mainField(match), value: asNumber(match, state) };
  }
  throw new Unmappable(`the state "${state.slice(0, 50)}" of ${match.entity} has no counterpart`);
}

type MeaningOf = (state: string, match: Match) => Meaning | undefined;

const switched: MeaningOf = (state) => own(SWITCHED, state);
const ofClimate: MeaningOf = (state) => ({ field: "mode", value: modeOf(state) });
const ofMower: MeaningOf = (state) => ({ field: "action", value: state });

/** The meanings of states by domain. */
const MEANINGS: Readonly<Record<string, MeaningOf>> = {
  ...Object.fromEntries(ON_OFF.map((domain) => [domain, switched])),
  valve: (state) => own(VALVE, state),
  binary_sensor: (state, match) => {
    if (!Object.hasOwn(SWITCHED, state)) return undefined;
    const field = yesNoField(match);
    // a contact is closed when it is true, and open when Home Assistant says "on"
    return { field, value: (state === "on") !== (field === "contact") };
  },
  cover: (state) => own(COVER, state),
  lock: (state) => own(LOCK, state),
  climate: ofClimate,
  water_heater: ofClimate,
  media_player: mediaMeaning,
  alarm_control_panel: (state) => own(ALARM, state),
  vacuum: ofMower,
  lawn_mower: ofMower,
  person: personMeaning,
  device_tracker: personMeaning,
  update: (state) =>
    Object.hasOwn(SWITCHED, state)
      ? { field: "updateAvailable", value: state === "on" }
      : undefined,
};

function personMeaning(state: string): Meaning {
  if (state === "home") return { field: "home", value: true };
  if (state === "not_home") return { field: "home", value: false };
  return { field: "zone", value: state };
}

/** Players without a switch are off when they stop. */
function mediaMeaning(state: string, { capabilities }: Match): Meaning | undefined {
  const meaning = own(MEDIA, state);
  if (meaning?.field !== "on" || !capabilities || capabilities["on"]) return meaning;
  return state === "on" ? undefined : { field: "playback", value: "stopped" };
}

function textMeaning(match: Match, state: string): Meaning {
  const field = mainField(match);
  const name = match.field ?? valueField(match);
  const capability = match.capabilities?.[name];
  if (capability?.type === "number") return { field, value: asNumber(match, state) };
  if (capability?.type === "boolean") {
    if (state === "on" || state === "off") return { field, value: state === "on" };
    throw new Unmappable(`${match.entity} is yes or no here, and not "${state.slice(0, 50)}"`);
  }
  return { field, value: state };
}

function asNumber({ entity }: Match, state: string): number {
  const number = Number(state);
  if (state !== "" && Number.isFinite(number)) return number;
  throw new Unmappable(`${entity} is a number here, and not "${state.slice(0, 50)}"`);
}

/** The field of a binary sensor: the one that its name means, or the only one that it has. */
function yesNoField({ entity, field, capabilities }: Match): string {
  const has = (name: string) => !capabilities || capabilities[name] !== undefined;
  if (field !== undefined) return field;
  const named = YES_NO.find(([word, name]) => word.test(entity) && has(name))?.[1];
  if (named !== undefined) return named;
  if (!capabilities) return "active";
  const only = YES_NO_FIELDS.filter(has).find((name) => name !== "batteryLow" && name !== "tamper");
  const found =
    only ?? Object.keys(capabilities).find((name) => capabilities[name]?.type === "boolean");
  if (found !== undefined) return found;
  throw new Unmappable(`the device of ${entity} has no value of yes or no`);
}

/** Words in names of sensors, and the readings that they mean. */
const READINGS: readonly (readonly [word: RegExp, field: string])[] = [
  [/temp/, "temperature"],
  [/humid|feucht/, "humidity"],
  [/illumin|lux|light_level|brightness/, "illuminance"],
  [/batter/, "battery"],
  [/power|watt/, "power"],
  [/energy/, "energy"],
  [/co2|carbon_dioxide/, "co2"],
  [/pressure/, "pressure"],
  [/pm2_?5|pm25/, "pm25"],
  [/voc/, "voc"],
  [/wind/, "windSpeed"],
  [/voltage/, "voltage"],
  [/current/, "current"],
  [/action|click|button/, "lastAction"],
];

/** The field of a sensor or another entity with one value. */
function valueField({ entity, domain, capabilities }: Match): string {
  if (!capabilities) return "value";
  const has = (name: string) => capabilities[name] !== undefined;
  const named = READINGS.find(([word, name]) => word.test(entity) && has(name))?.[1];
  if (named !== undefined && domain === "sensor") return named;
  if (has("value")) return "value";
  const names = Object.keys(capabilities).filter((name) => name !== "battery" && name !== "signal");
  const [only] = names;
  if (only !== undefined && names.length === 1) return only;
  throw new Unmappable(`${entity} may be one of several values of its device: ${names.join(", ")}`);
}

interface Attribute {
  readonly field: string;
  readonly toOurs?: (value: number) => number;
}

const fromByte = (value: number) => Math.round((value / 255) * 1_000) / 10;
const ATTRIBUTES: Readonly<Record<string, Attribute>> = {
  brightness: { field: "brightness", toOurs: fromByte },
  color_temp_kelvin: { field: "colorTemperature" },
  current_position: { field: "position" },
  current_tilt_position: { field: "tilt" },
  current_temperature: { field: "temperature" },
  current_humidity: { field: "humidity" },
  target_temp_low: { field: "targetTemperatureLow" },
  target_temp_high: { field: "targetTemperatureHigh" },
  hvac_action: { field: "action" },
  preset_mode: { field: "preset" },
  fan_mode: { field: "fanMode" },
  percentage: { field: "speed" },
  battery_level: { field: "battery" },
  battery: { field: "battery" },
  volume_level: { field: "volume", toOurs: (value) => value * 100 },
  is_volume_muted: { field: "muted" },
  source: { field: "source" },
  media_title: { field: "title" },
  latitude: { field: "latitude" },
  longitude: { field: "longitude" },
  humidity: { field: "humidity" },
  temperature: { field: "temperature" },
  wind_speed: { field: "windSpeed" },
};

/** An attribute of an entity as a field here. @throws Unmappable */
export function attributeOf(match: Match, name: string): Attribute {
  const known = Object.hasOwn(ATTRIBUTES, name) ? ATTRIBUTES[name] : undefined;
  if (!known) throw new Unmappable(`the attribute "${name}" of ${match.entity} has no counterpart`);
  const isTarget = match.domain === "climate" || match.domain === "water_heater";
  const field = isTarget && name === "temperature" ? "targetTemperature" : known.field;
  return { ...known, field: at(match, field) };
}

/** The name of a field in documents: that of a part has the part before it. @throws Unmappable if it is not there */
function at({ entity, capabilities, part }: Match, field: string): string {
  if (capabilities && capabilities[field] === undefined) {
    throw new Unmappable(`the device of ${entity} has no "${field}"`);
  }
  return part === undefined ? field : `parts/${part}/${field}`;
}

/** The entry of a table; also for names that every object has, such as `constructor`. */
const own = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;
