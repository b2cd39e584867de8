import { type DeviceState, MantelError, percentToSpeed, speedToPercent } from "@mantel/plugin-sdk";
import { FAN_SPEEDS } from "./devices.ts";
import type { WorldDraft } from "./draft.ts";

/** The keypad code of the alarm system. */
const CODE = "1234";
const ARMING_SECONDS = 30;
const CLEANING_PERCENT_PER_SECOND = 1 / 60;
const CHARGING_PERCENT_PER_SECOND = 1 / 90;
/** At this charge the robot returns to its dock. */
const LOW_BATTERY = 15;
const RETURNING_SECONDS = 40;
const HALF_HOUR = 1_800;
const HUMID_PERCENT_PER_SECOND = 1 / 300;
const TAP_CUBIC_METRES_PER_HOUR = 0.6;

/** The commands of the robot and the action that each leads to. */
const ROBOT_COMMANDS: Readonly<Record<string, string>> = {
  start: "cleaning",
  pause: "paused",
  stop: "idle",
  dock: "returning",
};

export function applyRobotCommand(draft: WorldDraft, command: DeviceState): void {
  const { fanSpeed } = command;
  if (fanSpeed !== undefined) draft.set("robot", { fanSpeed });
  for (const [name, action] of Object.entries(ROBOT_COMMANDS)) {
    const isThere = name === "dock" && draft.state("robot")["action"] === "docked";
    if (command[name] === true && !isThere) draft.set("robot", { action });
  }
}

/** @throws MantelError `invalid` if the code that disarms is missing or wrong */
export function applyAlarmCommand(draft: WorldDraft, { mode, code }: DeviceState): void {
  if (mode === undefined) return;
  if (mode === "disarmed" && code !== CODE) {
    throw new MantelError("invalid", `the code of the alarm is wrong; in this demo it is ${CODE}`);
  }
  draft.set("alarm", { mode, status: mode === "disarmed" ? "disarmed" : "arming" });
}

/** A fan set to a speed runs. A fan set to zero stops and keeps its last speed. */
export function fanCommand(command: DeviceState): DeviceState {
  const { speed, ...rest } = command;
  if (speed === undefined) return command;
  return speed === 0 ? { ...rest, on: false } : { on: true, ...command };
}

/** As `fanCommand`, in the six speeds of the ceiling fan. */
export function ceilingFanCommand(command: DeviceState): DeviceState {
  const { speed } = command;
  if (typeof speed !== "number" || speed === 0) return fanCommand(command);
  const taken = speedToPercent(percentToSpeed(speed, FAN_SPEEDS), FAN_SPEEDS);
  return fanCommand({ ...command, speed: taken });
}

/** The robot cleans now and then, until its battery is low, and charges in its dock. */
export function robot(draft: WorldDraft, seconds: number): void {
  const battery = draft.number("robot", "battery");
  switch (draft.state("robot")["action"]) {
    case "cleaning": {
      const left = Math.max(0, battery - CLEANING_PERCENT_PER_SECOND * seconds);
      const isLow = left < LOW_BATTERY || draft.happens(seconds, HALF_HOUR);
      draft.set("robot", { battery: left, action: isLow ? "returning" : "cleaning" });
      break;
    }
    case "returning":
      if (draft.happens(seconds, RETURNING_SECONDS)) draft.set("robot", { action: "docked" });
      break;
    case "docked": {
      const charged = Math.min(100, battery + CHARGING_PERCENT_PER_SECOND * seconds);
      const isBored = charged > 90 && draft.happens(seconds, 2 * HALF_HOUR);
      draft.set("robot", { battery: charged, action: isBored ? "cleaning" : "docked" });
      break;
    }
    default: // it waits where it is
  }
}

export function alarm(draft: WorldDraft, seconds: number): void {
  if (draft.state("alarm")["status"] !== "arming") return;
  if (draft.happens(seconds, ARMING_SECONDS / 2)) draft.set("alarm", { status: "armed" });
}

export function humidifier(draft: WorldDraft, seconds: number): void {
  const { action: before } = draft.state("humidifier");
  const target = draft.number("humidifier", "targetHumidity");
  const humidity = draft.number("humidifier", "humidity");
  const limit = target + (before === "humidifying" ? 1 : -1);
  const isOn = draft.isOn("humidifier");
  const humidifies = isOn && humidity < limit;
  if (humidifies) {
    draft.set("humidifier", { humidity: humidity + HUMID_PERCENT_PER_SECOND * seconds });
  } else {
    draft.drift("humidifier", "humidity", { toward: 38, halfLife: 2 * HALF_HOUR, seconds });
  }
  draft.set("humidifier", { action: humidifies ? "humidifying" : isOn ? "idle" : "off" });
}

/** Taps are opened now and then, while the valve lets water through. */
export function water(draft: WorldDraft, seconds: number): void {
  const runs = draft.number("water", "flow") > 0;
  const changes = draft.happens(seconds, runs ? 30 : 300);
  const flow = draft.isOn("water") && runs !== changes ? TAP_CUBIC_METRES_PER_HOUR : 0;
  const used = draft.number("water", "water") + (flow * seconds) / 3_600;
  draft.set("water", { flow, water: used });
}
