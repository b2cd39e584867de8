import type { CreateHandler } from "../component-handler.ts";
import { DiscoveryError, UnknownKind } from "../discovery-error.ts";
import type { Options } from "../options.ts";
import { alarm } from "./alarm.ts";
import { camera, image } from "./camera.ts";
import { climate, waterHeater } from "./climate.ts";
import { cover } from "./cover.ts";
import { deviceAutomation, event } from "./events.ts";
import { fan } from "./fan.ts";
import { humidifier } from "./humidifier.ts";
import { defaultLight } from "./light-default.ts";
import { jsonLight } from "./light-json.ts";
import { templateLight } from "./light-template.ts";
import { lawnMower, vacuum } from "./robots.ts";
import { binarySensor, sensor, update } from "./sensor.ts";
import { button, lock, number, scene, select, switchHandler, text } from "./simple.ts";
import { siren } from "./siren.ts";
import { tracker } from "./tracker.ts";
import { valve } from "./valve.ts";

const SCHEMAS = new Map<string, CreateHandler>([
  ["default", defaultLight],
  ["basic", defaultLight],
  ["json", jsonLight],
  ["template", templateLight],
]);

const light: CreateHandler = (options: Options) => {
  const schema = SCHEMAS.get(options.text("schema", "default").toLowerCase());
  if (!schema) throw new DiscoveryError("a light has the schema default, json or template");
  return schema(options);
};

const PLATFORMS = new Map<string, CreateHandler>([
  ["alarm_control_panel", alarm],
  ["binary_sensor", binarySensor],
  ["button", button],
  ["camera", camera],
  ["climate", climate],
  ["cover", cover],
  ["device_automation", deviceAutomation],
  ["device_tracker", tracker],
  ["event", event],
  ["fan", fan],
  ["humidifier", humidifier],
  ["image", image],
  ["lawn_mower", lawnMower],
  ["light", light],
  ["lock", lock],
  ["number", number],
  ["scene", scene],
  ["select", select],
  ["sensor", sensor],
  ["siren", siren],
  ["switch", switchHandler],
  ["text", text],
  ["update", update],
  ["vacuum", vacuum],
  ["valve", valve],
  ["water_heater", waterHeater],
]);

/** The function that creates the handler for components of this platform. @throws UnknownKind if unsupported */
export function handlerFactory(platform: string): CreateHandler {
  const make = PLATFORMS.get(platform);
  if (make) return make;
  throw new UnknownKind(`components of the kind ${platform.slice(0, 40)} are not known`);
}
