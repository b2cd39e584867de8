import type { DeviceState } from "@mantel/plugin-sdk";
import { WorldDraft } from "./draft.ts";
import { advancePlayback, skip } from "./speaker.ts";
import type { World } from "./world.ts";

const HOUR = 3_600;
const BLINDS_PERCENT_PER_SECOND = 5;
const HEATING_KELVIN_PER_HOUR = 1.6;
/** Deviation from the target temperature at which the thermostat acts. */
const HYSTERESIS_KELVIN = 0.1;
const DISHWASHER_MINUTES = 90;
const COFFEE_WATTS = 1_350;
const STANDBY_WATTS = 310;
const FAN_WATTS = 60;

/** Power of each lamp at full brightness. */
const LAMP_WATTS = {
  "sofa-lamp": 9,
  "tv-backlight": 20,
  "living-ceiling": 24,
  island: 18,
  bedside: 6,
  hallway: 11,
};

/** Resting climate of rooms without a thermostat. */
const ROOM_CLIMATES = {
  "living-climate": { temperature: 21.4, humidity: 46 },
  "kitchen-climate": { temperature: 22, humidity: 51 },
  "bath-climate": { temperature: 20.1, humidity: 63 },
};

/** The world after some seconds. */
export function tick(world: World, seconds: number): World {
  const draft = new WorldDraft(world);
  weather(draft, seconds);
  rooms(draft, seconds);
  heating(draft, seconds);
  blinds(draft, seconds);
  hallway(draft, seconds);
  draft.set("speaker", advancePlayback(draft.state("speaker"), seconds));
  dishwasher(draft, seconds);
  coffee(draft, seconds);
  if (draft.happens(seconds, HOUR)) {
    draft.set("bath-window", { contact: draft.state("bath-window")["contact"] !== true });
  }
  meter(draft, seconds);
  return draft.finish();
}

/** The world after a command, which was checked against the device's capabilities. */
export function applyCommand(world: World, nativeId: string, command: DeviceState): World {
  const draft = new WorldDraft(world);
  switch (nativeId) {
    case "blinds":
      draft.blindsAim = Number(command["position"]);
      break;
    case "speaker":
      applySpeakerCommand(draft, command);
      break;
    case "hallway":
      draft.set("hallway", { mode: "manual", ...command });
      break;
    case "extractor":
      draft.set("extractor", fanCommand(command));
      break;
    case "coffee":
      draft.set("coffee", { ...command, power: command["on"] === true ? COFFEE_WATTS : 0 });
      break;
    default:
      draft.set(nativeId, command);
  }
  return tick(draft.finish(), 0);
}

function applySpeakerCommand(draft: WorldDraft, { skip: to, ...rest }: DeviceState): void {
  if (to === "next" || to === "previous") draft.set("speaker", skip(draft.state("speaker"), to));
  draft.set("speaker", rest);
}

/** A fan set to a speed runs. A fan set to zero stops and keeps its last speed. */
function fanCommand(command: DeviceState): DeviceState {
  const { speed, ...rest } = command;
  if (speed === undefined) return command;
  return speed === 0 ? { ...rest, on: false } : { on: true, ...command };
}

function weather(draft: WorldDraft, seconds: number): void {
  const drift = (field: string, toward: number, noise: number) =>
    draft.drift("garden-weather", field, { toward, halfLife: 6 * HOUR, noise, seconds });
  drift("temperature", 7, 0.008);
  drift("humidity", 84, 0.03);
  drift("pressure", 1009, 0.01);
  drift("illuminance", 120, 0.2);
}

function rooms(draft: WorldDraft, seconds: number): void {
  for (const [id, { temperature, humidity }] of Object.entries(ROOM_CLIMATES)) {
    draft.drift(id, "temperature", { toward: temperature, halfLife: HOUR, noise: 0.004, seconds });
    draft.drift(id, "humidity", { toward: humidity, halfLife: HOUR, noise: 0.05, seconds });
  }
  draft.drift("upstairs-climate", "humidity", { toward: 49, halfLife: HOUR, noise: 0.05, seconds });
}

function heating(draft: WorldDraft, seconds: number): void {
  const { mode, heating: heated } = draft.state("heating");
  const target = draft.number("heating", "targetTemperature");
  const limit = target + (heated === true ? HYSTERESIS_KELVIN : -HYSTERESIS_KELVIN);
  const heats = mode !== "off" && draft.number("heating", "temperature") < limit;

  const outside = draft.number("garden-weather", "temperature");
  if (!heats)
    draft.drift("heating", "temperature", { toward: outside, halfLife: 12 * HOUR, seconds });
  const gained = heats ? (HEATING_KELVIN_PER_HOUR * seconds) / HOUR : 0;
  const temperature = draft.number("heating", "temperature") + gained;
  draft.set("heating", { temperature, heating: heats });
  draft.set("upstairs-climate", { temperature });
}

function blinds(draft: WorldDraft, seconds: number): void {
  const before = draft.number("blinds", "position");
  const way = draft.blindsAim - before;
  const moved = Math.min(Math.abs(way), BLINDS_PERCENT_PER_SECOND * seconds) * Math.sign(way);
  const position = before + moved;
  const direction = way > 0 ? "opening" : "closing";
  draft.set("blinds", { position, moving: position === draft.blindsAim ? "stopped" : direction });
}

/**
 * Simulates a person who walks through now and then; the light follows unless it was switched
 * manually.
 */
function hallway(draft: WorldDraft, seconds: number): void {
  const motion = draft.state("hallway-motion")["motion"] === true;
  if (draft.happens(seconds, motion ? 40 : 240)) draft.set("hallway-motion", { motion: !motion });
  if (draft.state("hallway")["mode"] !== "auto") return;
  draft.set("hallway", { on: draft.state("hallway-motion")["motion"] === true });
}

function dishwasher(draft: WorldDraft, seconds: number): void {
  if (!draft.isOn("dishwasher")) {
    draft.set("dishwasher", { power: 0 });
    return;
  }
  const left = draft.number("dishwasher", "remaining") || DISHWASHER_MINUTES;
  const remaining = Math.max(0, left - seconds / 60);
  const progress = 100 * (1 - remaining / DISHWASHER_MINUTES);
  const warms = progress < 30 || (progress > 60 && progress < 85);
  const on = remaining > 0;
  draft.set("dishwasher", { on, remaining, progress, power: on ? (warms ? 850 : 60) : 0 });
}

/** The machine heats up at full power, then keeps warm. */
function coffee(draft: WorldDraft, seconds: number): void {
  if (draft.isOn("coffee")) draft.drift("coffee", "power", { toward: 55, halfLife: 40, seconds });
}

function meter(draft: WorldDraft, seconds: number): void {
  const lamps = Object.entries(LAMP_WATTS).map(([id, watts]) =>
    draft.isOn(id) ? (watts * draft.number(id, "brightness")) / 100 : 0,
  );
  const plugs = draft.number("coffee", "power") + draft.number("dishwasher", "power");
  const fan = draft.isOn("extractor") ? (FAN_WATTS * draft.number("extractor", "speed")) / 100 : 0;
  const power = lamps.reduce((sum, watts) => sum + watts, STANDBY_WATTS + plugs + fan);
  const energy = draft.number("energy", "energy") + (power * seconds) / (1_000 * HOUR);
  draft.set("energy", { power, energy });
}
