import type { DeviceState } from "@mantel/plugin-sdk";
import { WorldDraft } from "./draft.ts";
import {
  alarm,
  applyAlarmCommand,
  applyRobotCommand,
  ceilingFanCommand,
  fanCommand,
  humidifier,
  robot,
  water,
} from "./machines.ts";
import { BEDROOM_SPEAKER, SPEAKER } from "./players.ts";
import { applyPlayerCommand, players } from "./speaker.ts";
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
  "ceiling-fan/light": 14,
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
  players(draft, seconds);
  dishwasher(draft, seconds);
  coffee(draft, seconds);
  robot(draft, seconds);
  alarm(draft, seconds);
  humidifier(draft, seconds);
  water(draft, seconds);
  if (draft.happens(seconds, HOUR)) {
    draft.set("bath-window", { contact: draft.state("bath-window")["contact"] !== true });
  }
  meter(draft, seconds);
  return draft.finish();
}

/**
 * The world after a command to a function, which was checked against its capabilities.
 * @throws MantelError `invalid` for a wrong code
 */
export function applyCommand(world: World, path: string, command: DeviceState): World {
  const draft = new WorldDraft(world);
  switch (path) {
    case "blinds":
      draft.blindsAim = aimOf(draft, command);
      break;
    case SPEAKER:
    case BEDROOM_SPEAKER:
      applyPlayerCommand(draft, path, command);
      break;
    case "hallway":
      draft.set("hallway/extra", { mode: "manual" });
      draft.set("hallway", command);
      break;
    case "extractor":
      draft.set("extractor", fanCommand(command));
      break;
    case "ceiling-fan":
      draft.set("ceiling-fan", ceilingFanCommand(command));
      break;
    case "coffee":
      draft.set("coffee", { ...command, power: command["on"] === true ? COFFEE_WATTS : 0 });
      break;
    case "robot":
      applyRobotCommand(draft, command);
      break;
    case "alarm":
      applyAlarmCommand(draft, command);
      break;
    default:
      draft.set(path, command);
  }
  return tick(draft.finish(), 0);
}

/** The position to which a command sends the blinds. */
function aimOf(draft: WorldDraft, { position, open, close }: DeviceState): number {
  if (typeof position === "number") return position;
  if (open === true) return 100;
  return close === true ? 0 : draft.number("blinds", "position");
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
  const { mode, action } = draft.state("heating");
  const target = draft.number("heating", "targetTemperature");
  const limit = target + (action === "heating" ? HYSTERESIS_KELVIN : -HYSTERESIS_KELVIN);
  const heats = mode !== "off" && draft.number("heating", "temperature") < limit;

  const outside = draft.number("garden-weather", "temperature");
  if (!heats)
    draft.drift("heating", "temperature", { toward: outside, halfLife: 12 * HOUR, seconds });
  const gained = heats ? (HEATING_KELVIN_PER_HOUR * seconds) / HOUR : 0;
  const temperature = draft.number("heating", "temperature") + gained;
  const rests = mode === "off" ? "off" : "idle";
  draft.set("heating", { temperature, action: heats ? "heating" : rests });
  draft.set("upstairs-climate", { temperature });
}

function blinds(draft: WorldDraft, seconds: number): void {
  const before = draft.number("blinds", "position");
  const way = draft.blindsAim - before;
  const moved = Math.min(Math.abs(way), BLINDS_PERCENT_PER_SECOND * seconds) * Math.sign(way);
  const position = before + moved;
  const direction = way > 0 ? "opening" : "closing";
  draft.set("blinds", { position, action: position === draft.blindsAim ? "stopped" : direction });
}

/**
 * Simulates a person who walks through now and then; the light follows unless it was switched
 * manually.
 */
function hallway(draft: WorldDraft, seconds: number): void {
  const motion = draft.state("hallway-motion")["motion"] === true;
  if (draft.happens(seconds, motion ? 40 : 240)) draft.set("hallway-motion", { motion: !motion });
  if (draft.state("hallway/extra")["mode"] !== "auto") return;
  draft.set("hallway", { on: draft.state("hallway-motion")["motion"] === true });
}

function dishwasher(draft: WorldDraft, seconds: number): void {
  if (!draft.isOn("dishwasher")) {
    draft.set("dishwasher", { power: 0 });
    return;
  }
  const left = draft.number("dishwasher/extra", "remaining") || DISHWASHER_MINUTES;
  const remaining = Math.max(0, left - seconds / 60);
  const progress = 100 * (1 - remaining / DISHWASHER_MINUTES);
  const warms = progress < 30 || (progress > 60 && progress < 85);
  const on = remaining > 0;
  draft.set("dishwasher", { on, power: on ? (warms ? 850 : 60) : 0 });
  draft.set("dishwasher/extra", { remaining, progress });
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
  const fans = ["extractor", "ceiling-fan"].map((id) =>
    draft.isOn(id) ? (FAN_WATTS * draft.number(id, "speed")) / 100 : 0,
  );
  const power = [...lamps, ...fans].reduce((sum, watts) => sum + watts, STANDBY_WATTS + plugs);
  const energy = draft.number("energy", "energy") + (power * seconds) / (1_000 * HOUR);
  draft.set("energy", { power, energy });
}
