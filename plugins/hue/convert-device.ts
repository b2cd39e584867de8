import type { DeviceDescription } from "@mantel/plugin-sdk";
import { lastActionOf } from "./convert-button.ts";
import { readingsOf, sensorKind } from "./convert-sensor.ts";
import { at, type Resource, textAt } from "./resources.ts";

/** Fields common to all parts of a device. */
export type Common = Pick<DeviceDescription, "name" | "room" | "groups" | "info" | "available">;

/** A Mantel device: one light, all sensors or all buttons of a Hue device, or a group. */
export interface Part {
  readonly device: DeviceDescription;
  /** The resource that receives its commands. */
  readonly target?: Resource;
  /** The ids of the lights of a group. */
  readonly members?: readonly string[];
  readonly services: readonly Resource[];
}

/** The fields that all parts of a device share, without room and zones. */
export function commonOf(device: Resource, services: readonly Resource[]): Common {
  const product = at(device, "product_data");
  return {
    name: textAt(device, "metadata", "name") ?? "Hue device",
    info: {
      ...given("manufacturer", textAt(product, "manufacturer_name")),
      ...given("model", textAt(product, "product_name") ?? textAt(product, "model_id")),
      ...given("firmware", textAt(product, "software_version")),
    },
    available: isConnected(services),
  };
}

/**
 * The radio address of the device, which stays the same when the device is removed and added again,
 * also at another bridge.
 */
export function radioOf(services: readonly Resource[]): string | undefined {
  const addresses = services.map((each) => textAt(each, "mac_address") ?? "");
  return addresses.find((each) => /^[0-9a-f]{2}(:[0-9a-f]{2}){5,7}$/.test(each));
}

export function buttonPart(
  kind: "button" | "doorbell",
  nativeId: string,
  common: Common,
  services: readonly Resource[],
): Part {
  const { capabilities, state } = readingsOf(services);
  const device: DeviceDescription = {
    ...common,
    nativeId,
    kind,
    capabilities: { lastAction: { type: "text", readOnly: true }, ...capabilities },
    state: { lastAction: lastActionOf(services)?.name ?? null, ...state },
  };
  return { device, services };
}

export function sensorPart(nativeId: string, common: Common, services: readonly Resource[]): Part {
  const device = { ...common, nativeId, kind: sensorKind(services), ...readingsOf(services) };
  return { device, services };
}

/** True for a service that reports more than its own battery. */
export function isSensor(service: Resource): boolean {
  const { capabilities } = readingsOf([service]);
  return service.type !== "device_power" && Object.keys(capabilities).length > 0;
}

/** False if the bridge reports `connectivity_issue` or `disconnected`. */
function isConnected(services: readonly Resource[]): boolean {
  const status = services.map((each) => textAt(each, "status")).find(Boolean);
  return status !== "connectivity_issue" && status !== "disconnected";
}

function given<K extends string>(name: K, value: string | undefined): { [key in K]?: string } {
  return value === undefined ? {} : ({ [name]: value } as { [key in K]: string });
}
