import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Capabilities } from "@mantel/plugin-sdk";
import { type DeviceLayout, layoutOf } from "../../../plugins/zigbee2mqtt/device-layout.ts";
import {
  addDevice,
  emptyDeviceList,
  inventoryOf,
  type Inventory,
} from "../../../plugins/zigbee2mqtt/discovery.ts";
import { parseExposes } from "../../../plugins/zigbee2mqtt/exposes.ts";
import type { Feature } from "../../../plugins/zigbee2mqtt/feature.ts";

const FIXTURES = join(import.meta.dirname, "../../fixtures/zigbee2mqtt");

interface Definition {
  /** The models that expose the same. */
  readonly models: readonly string[];
  readonly exposes: readonly unknown[];
}

interface Packed {
  readonly exposes: readonly unknown[];
  readonly definitions: readonly (readonly [models: string, places: readonly number[]])[];
}

const packed = JSON.parse(
  gunzipSync(readFileSync(join(FIXTURES, "definitions.json.gz"))).toString(),
) as Packed;

/** All definitions that Zigbee2MQTT knows. */
export const definitions: readonly Definition[] = packed.definitions.map(([models, places]) => ({
  models: models.split("|"),
  exposes: places.map((place) => packed.exposes[place]),
}));

/** The definition of a model. */
export function definitionOf(model: string): Definition {
  const found = definitions.find(({ models }) => models.some((name) => name.endsWith(` ${model}`)));
  if (found) return found;
  throw new Error(`no definition is for ${model}`);
}

/** A device of `bridge/devices`. */
export function listed(definition: unknown, at = 0): object {
  return {
    ieee_address: `0x${String(at).padStart(16, "0")}`,
    friendly_name: `device ${at}`,
    type: "Router",
    supported: true,
    power_source: "Mains (single phase)",
    definition,
  };
}

/** The definition of a lamp with all that lamps have. */
export const lamp = {
  vendor: "v",
  model: "m",
  exposes: [
    {
      type: "light",
      features: [
        {
          type: "binary",
          name: "state",
          property: "state",
          access: 7,
          value_on: "ON",
          value_off: "OFF",
        },
        {
          type: "numeric",
          name: "brightness",
          property: "brightness",
          access: 7,
          value_min: 0,
          value_max: 254,
        },
        {
          type: "numeric",
          name: "color_temp",
          property: "color_temp",
          access: 7,
          value_min: 153,
          value_max: 500,
        },
        { type: "composite", name: "color_xy", property: "color", access: 7, features: [] },
      ],
    },
  ],
};

/** The kind, parts and capabilities of a device that exposes these values. */
export function layoutIn(exposes: readonly unknown[]): DeviceLayout {
  return layoutOf(parseExposes(exposes));
}

/** Names of capabilities with their places: `on`, `l1/on`, `extra/childLock`. */
export function placesIn(exposes: readonly unknown[]): string[] {
  return layoutIn(exposes).features.map(placeOf);
}

export function placeOf({ name, part, group }: Feature): string {
  return group !== undefined ? `extra/${name}` : part === undefined ? name : `${part}/${name}`;
}

/** The content of two lists. */
export function inventoryIn(devices: readonly unknown[], groups: unknown = []): Inventory {
  const list = emptyDeviceList();
  for (const raw of devices) addDevice(list, raw);
  return inventoryOf(list, Array.isArray(groups) ? groups : []);
}

/** The capabilities of a device of a definition. */
export function capabilitiesOf(definition: unknown): Capabilities {
  const [thing] = inventoryIn([listed(definition)]).things;
  assert.ok(thing);
  return thing.description.capabilities;
}
