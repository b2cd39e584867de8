import type { DeviceKind } from "@mantel/plugin-sdk";
import { choicesBy, hasFeature, numberIn, textIn, when } from "./attributes.ts";
import {
  callsFor,
  choice,
  commands,
  type Domain,
  extras,
  PERCENT_READ,
  stateText,
} from "./domain.ts";
import type { Attributes } from "./entities.ts";

/** A command of a robot: the feature that has it, its service, and the states that show it. */
interface Order {
  readonly feature: number;
  readonly service: string;
  /** Absent if no state shows it. */
  readonly leadsTo?: readonly string[];
}
type Orders = Readonly<Record<string, Order>>;

const VACUUM: Orders = {
  start: { feature: 8_192, service: "vacuum.start", leadsTo: ["cleaning"] },
  pause: { feature: 4, service: "vacuum.pause", leadsTo: ["paused", "idle"] },
  stop: { feature: 8, service: "vacuum.stop", leadsTo: ["idle", "docked", "paused"] },
  dock: { feature: 16, service: "vacuum.return_to_base", leadsTo: ["returning", "docked"] },
  locate: { feature: 512, service: "vacuum.locate" },
};
const CLEAN_SPOT: Orders = {
  cleanSpot: { feature: 1_024, service: "vacuum.clean_spot", leadsTo: ["cleaning"] },
};
const FAN_SPEED = 32;

const MOWER: Orders = {
  start: { feature: 1, service: "lawn_mower.start_mowing", leadsTo: ["mowing"] },
  pause: { feature: 2, service: "lawn_mower.pause", leadsTo: ["paused"] },
  dock: { feature: 4, service: "lawn_mower.dock", leadsTo: ["returning", "docked"] },
};

const robot = (kind: DeviceKind, work: string, orders: Orders, extraOrders: Orders): Domain => {
  const all = { ...orders, ...extraOrders };
  return {
    describe(entity) {
      const { attributes } = entity;
      const battery = numberIn(attributes, "battery_level");
      const extra = extras(ordersOf(attributes, extraOrders));
      return {
        kind,
        capabilities: {
          ...choice("action", [work, "docked", "idle", "paused", "returning", "error"], true),
          ...ordersOf(attributes, orders),
          ...choice("fanSpeed", choicesBy(attributes, FAN_SPEED, "fan_speed_list")),
          ...when(battery !== undefined, { battery: PERCENT_READ }),
        },
        ...when(Object.keys(extra).length > 0, { extra }),
        state: { action: stateText(entity), fanSpeed: textIn(attributes, "fan_speed"), battery },
      };
    },

    calls(command) {
      const services = Object.entries(all).map(([name, { service }]) => [
        name,
        () => ({ service }),
      ]);
      return callsFor(command, {
        ...(Object.fromEntries(services) as Record<string, () => { service: string }>),
        fanSpeed: (speed) => ({ service: "vacuum.set_fan_speed", data: { fan_speed: speed } }),
      });
    },

    confirms: ({ field }, { state }) => all[field]?.leadsTo?.includes(state),
  };
};

export const vacuum = robot("vacuum", "cleaning", VACUUM, CLEAN_SPOT);
export const lawnMower = robot("lawn-mower", "mowing", MOWER, {});

function ordersOf(attributes: Attributes, orders: Orders) {
  const has = Object.entries(orders).map(([name, { feature }]) => [
    name,
    hasFeature(attributes, feature),
  ]);
  return commands(Object.fromEntries(has) as Record<string, boolean>);
}
