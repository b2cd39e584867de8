import { isDeepStrictEqual } from "node:util";
import type {
  Capability,
  Color,
  DeviceDescription,
  DeviceState,
  StateValue,
} from "@mantel/plugin-sdk";
import { alarm } from "./convert-alarm.ts";
import { binarySensor } from "./convert-binary-sensor.ts";
import { button, event } from "./convert-button.ts";
import { calendar } from "./convert-calendar.ts";
import { camera, image } from "./convert-camera.ts";
import { climate } from "./convert-climate.ts";
import { cover } from "./convert-cover.ts";
import { date } from "./convert-date.ts";
import { fan } from "./convert-fan.ts";
import { humidifier } from "./convert-humidifier.ts";
import { light } from "./convert-light.ts";
import { lock } from "./convert-lock.ts";
import { mediaPlayer } from "./convert-media.ts";
import { lawnMower, vacuum } from "./convert-robot.ts";
import { sensor } from "./convert-sensor.ts";
import { siren } from "./convert-siren.ts";
import { toggle } from "./convert-switch.ts";
import { tracker } from "./convert-tracker.ts";
import { update } from "./convert-update.ts";
import { numeric, select, text } from "./convert-value.ts";
import { valve } from "./convert-valve.ts";
import { waterHeater } from "./convert-water-heater.ts";
import { weather } from "./convert-weather.ts";
import type { Asked, Domain, TemperatureUnit } from "./domain.ts";
import type { Entity } from "./entities.ts";
import type { DomainName } from "./options.ts";
import { NO_GROUPS, type PlayerGroups } from "./player-groups.ts";

const BY_NAME: Readonly<Record<Exclude<DomainName, "scene">, Domain>> = {
  light,
  switch: toggle,
  input_boolean: toggle,
  sensor,
  binary_sensor: binarySensor,
  cover,
  climate,
  fan,
  lock,
  media_player: mediaPlayer,
  vacuum,
  alarm_control_panel: alarm,
  number: numeric,
  input_number: numeric,
  select,
  input_select: select,
  button,
  input_button: button,
  humidifier,
  water_heater: waterHeater,
  siren,
  valve,
  lawn_mower: lawnMower,
  event,
  update,
  text,
  input_text: text,
  date,
  time: date,
  datetime: date,
  input_datetime: date,
  weather,
  calendar,
  camera,
  image,
  device_tracker: tracker,
  person: tracker,
};

/** The domain that converts entities to devices; `undefined` for other entities. */
export function domainOf(name: string): Domain | undefined {
  return Object.hasOwn(BY_NAME, name) ? BY_NAME[name as keyof typeof BY_NAME] : undefined;
}

/** A device without what the entity does not tell of. */
export type Told = Pick<
  DeviceDescription,
  "kind" | "capabilities" | "state" | "extra" | "image" | "live"
>;

/** The device for an entity. Values that do not match the capabilities are `null`. */
export function viewOf(
  domain: Domain,
  entity: Entity,
  unit: TemperatureUnit,
  groups: PlayerGroups = NO_GROUPS,
): Told {
  const {
    kind,
    capabilities,
    extra,
    state,
    image: hasImage,
    live,
  } = domain.describe(entity, unit, groups);
  return {
    kind,
    capabilities,
    state: stateOf(capabilities, state),
    ...(extra ? { extra: { capabilities: extra, state: stateOf(extra, state) } } : {}),
    ...(hasImage ? { image: true } : {}),
    ...(live ? { live } : {}),
  };
}

function stateOf(
  capabilities: Readonly<Record<string, Capability>>,
  state: Readonly<Record<string, StateValue | undefined>>,
): DeviceState {
  const told = Object.entries(state).flatMap(([field, value]) => {
    const capability = capabilities[field];
    if (!capability || value === undefined) return [];
    return [[field, value !== null && fits(capability, value) ? value : null] as const];
  });
  return Object.fromEntries(told);
}

/** The host would refuse a value that its capability cannot have, and all that comes with it. */
function fits(capability: Capability, value: StateValue): boolean {
  switch (capability.type) {
    case "number":
      return isWithin(value, capability);
    case "choice":
      return capability.values.some((each) => each === value);
    case "text":
      return typeof value === "string";
    case "boolean":
      return typeof value === "boolean";
    case "color":
      return isColor(value);
    case "command":
      return false;
  }
}

function isWithin(value: StateValue, range: { min?: number; max?: number }): boolean {
  const { min = -Infinity, max = Infinity } = range;
  return typeof value === "number" && Number.isFinite(value) && value >= min && value <= max;
}

function isColor(value: StateValue): boolean {
  if (typeof value !== "object" || value === null) return false;
  return (
    isWithin(value.hue, { min: 0, max: 360 }) && isWithin(value.saturation, { min: 0, max: 100 })
  );
}

/**
 * True if a device has reached the requested values. Devices round, so near values count too, but
 * not if they equal the value `before`: that is the old value and not an answer.
 */
export function hasReached(
  { field, value }: Asked,
  now: DeviceState,
  before: DeviceState,
): boolean {
  const reached = now[field];
  if (isDeepStrictEqual(reached, value)) return true;
  return (
    !isDeepStrictEqual(reached, before[field]) && isNear(value, reached, TOLERANCES[field] ?? 0)
  );
}

function isNear(asked: StateValue, now: StateValue | undefined, tolerance: number): boolean {
  if (typeof now === "number" && typeof asked === "number") {
    return Math.abs(now - asked) <= tolerance + Math.abs(asked) * 1e-6;
  }
  const isColors = typeof now === "object" && typeof asked === "object";
  return isColors && now !== null && asked !== null && isNearColor(asked, now);
}

function isNearColor(asked: Color, now: Color): boolean {
  const turn = Math.abs(now.hue - asked.hue);
  const isSameHue = Math.min(turn, 360 - turn) <= 5 || asked.saturation < 5;
  return isSameHue && Math.abs(now.saturation - asked.saturation) <= 5;
}

/**
 * The distance by which a reported value may differ from the requested one: lights round to 255 steps and to mireds,
 * homes may use °F, and speakers have steps of their own.
 */
const TOLERANCES: Readonly<Record<string, number>> = {
  brightness: 1,
  colorTemperature: 60,
  targetTemperature: 0.3,
  targetTemperatureLow: 0.3,
  targetTemperatureHigh: 0.3,
  volume: 3,
  position: 3,
  tilt: 3,
  targetHumidity: 1,
};
