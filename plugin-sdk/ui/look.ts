import type { Device, DeviceKind } from "../device.ts";
import type { I18n } from "../i18n.ts";
import { type Look, type LookOf } from "./appearance.ts";
import { climateLook, humidityLook } from "./look-climate.ts";
import { alarmLook, buttonLook, robotLook, updateLook } from "./look-machine.ts";
import { coverLook, lockLook, valveLook } from "./look-opening.ts";
import {
  binaryLook,
  cameraLook,
  doorbellLook,
  sensorLook,
  stationLook,
  trackerLook,
} from "./look-reading.ts";
import { groupLook, sirenLook, switchLook } from "./look-switch.ts";

export type { Look, TileButton } from "./appearance.ts";

const LOOKS: Readonly<Record<DeviceKind, LookOf>> = {
  light: switchLook,
  switch: switchLook,
  plug: switchLook,
  fan: switchLook,
  "media-player": switchLook,
  group: groupLook,
  siren: sirenLook,
  cover: coverLook,
  valve: valveLook,
  lock: lockLook,
  thermostat: climateLook,
  "air-conditioner": climateLook,
  "water-heater": climateLook,
  humidifier: humidityLook,
  dehumidifier: humidityLook,
  vacuum: robotLook,
  "lawn-mower": robotLook,
  alarm: alarmLook,
  button: buttonLook,
  update: updateLook,
  sensor: sensorLook,
  "weather-station": stationLook,
  "binary-sensor": binaryLook,
  camera: cameraLook,
  doorbell: doorbellLook,
  tracker: trackerLook,
};

/** The look of a device. Pending values replace confirmed ones, so a command is visible immediately. */
export function lookOf(device: Device, i18n: I18n): Look {
  return LOOKS[device.kind](device, { ...device.state, ...device.pending }, i18n);
}
