import type { MakeFacet } from "../facet.ts";
import type { Options } from "../options.ts";
import { Refusal, UnknownKind } from "../refusal.ts";
import { climate } from "./climate.ts";
import { cover } from "./cover.ts";
import { deviceAutomation, event } from "./events.ts";
import { fan } from "./fan.ts";
import { defaultLight } from "./light-default.ts";
import { jsonLight } from "./light-json.ts";
import { templateLight } from "./light-template.ts";
import { binarySensor, sensor, update } from "./sensor.ts";
import { button, lock, number, scene, select, switchFacet, text } from "./simple.ts";

const SCHEMAS = new Map<string, MakeFacet>([
  ["default", defaultLight],
  ["basic", defaultLight],
  ["json", jsonLight],
  ["template", templateLight],
]);

const light: MakeFacet = (options: Options) => {
  const schema = SCHEMAS.get(options.text("schema", "default").toLowerCase());
  if (!schema) throw new Refusal("a light has the schema default, json or template");
  return schema(options);
};

const PLATFORMS = new Map<string, MakeFacet>([
  ["binary_sensor", binarySensor],
  ["button", button],
  ["climate", climate],
  ["cover", cover],
  ["device_automation", deviceAutomation],
  ["event", event],
  ["fan", fan],
  ["light", light],
  ["lock", lock],
  ["number", number],
  ["scene", scene],
  ["select", select],
  ["sensor", sensor],
  ["switch", switchFacet],
  ["text", text],
  ["update", update],
]);

/** What makes a facet of a component of this platform. @throws Refusal when there is none */
export function facetMaker(platform: string): MakeFacet {
  const make = PLATFORMS.get(platform);
  if (make) return make;
  throw new UnknownKind(`components of the kind ${platform.slice(0, 40)} are not known`);
}
