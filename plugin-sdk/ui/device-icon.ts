import type { Device, DeviceKind } from "../device.ts";

type Icon = `mdi:${string}`;

/** Icons by patterns in the device's name; the first match wins. Devices do not report their appearance. */
const BY_NAME: readonly (readonly [RegExp, Icon])[] = [
  [/back ?light|strip|led\b/i, "mdi:led-strip-variant"],
  [/ceiling/i, "mdi:ceiling-light-outline"],
  [/island|pendant|dining|table lamp/i, "mdi:ceiling-light"],
  [/bedside|desk|night ?stand/i, "mdi:lamp-outline"],
  [/hall|stairs|corridor/i, "mdi:motion-sensor"],
  [/sofa|floor|corner|reading/i, "mdi:floor-lamp"],
  [/coffee/i, "mdi:coffee-maker-outline"],
  [/dish ?washer/i, "mdi:dishwasher"],
  [/washing|washer/i, "mdi:washing-machine"],
  [/dryer/i, "mdi:tumble-dryer"],
  [/fridge|freezer/i, "mdi:fridge-outline"],
  [/television|\btv\b/i, "mdi:television"],
  [/garage/i, "mdi:garage-variant"],
  [/garden|terrace|outdoor|porch/i, "mdi:outdoor-lamp"],
];

const BY_KIND: Readonly<Record<DeviceKind, Icon>> = {
  light: "mdi:lightbulb-outline",
  switch: "mdi:light-switch",
  plug: "mdi:power-socket-de",
  sensor: "mdi:gauge",
  "binary-sensor": "mdi:radar",
  button: "mdi:gesture-tap-button",
  cover: "mdi:roller-shade",
  thermostat: "mdi:radiator",
  fan: "mdi:fan",
  lock: "mdi:lock",
  "media-player": "mdi:speaker",
  vacuum: "mdi:robot-vacuum",
  alarm: "mdi:shield-home-outline",
  group: "mdi:lightbulb-group-outline",
  humidifier: "mdi:air-humidifier",
  dehumidifier: "mdi:water-minus-outline",
  "water-heater": "mdi:water-boiler",
  "air-conditioner": "mdi:air-conditioner",
  valve: "mdi:valve",
  siren: "mdi:bullhorn-outline",
  "lawn-mower": "mdi:robot-mower-outline",
  camera: "mdi:cctv",
  doorbell: "mdi:doorbell",
  tracker: "mdi:account-outline",
  "weather-station": "mdi:weather-partly-cloudy",
  update: "mdi:package-up",
};

/** Icons of covers, by patterns in the name. */
const COVERS: readonly (readonly [RegExp, Icon])[] = [
  [/garage/i, "mdi:garage-variant"],
  [/curtain|vorhang/i, "mdi:curtains"],
  [/awning|markise/i, "mdi:awning-outline"],
  [/gate|\btor\b/i, "mdi:gate"],
  [/shutter|rolladen|rollladen/i, "mdi:window-shutter"],
];

/** Icons of sensors, by what they measure. */
const BY_FIELD: Readonly<Record<string, Icon>> = {
  contact: "mdi:window-closed-variant",
  motion: "mdi:motion-sensor",
  occupancy: "mdi:motion-sensor",
  presence: "mdi:motion-sensor",
  temperature: "mdi:thermometer",
  humidity: "mdi:water-percent",
  moisture: "mdi:water-percent",
  illuminance: "mdi:brightness-5",
  power: "mdi:lightning-bolt",
  energy: "mdi:lightning-bolt",
  pressure: "mdi:gauge",
  co2: "mdi:molecule-co2",
  waterLeak: "mdi:water-alert-outline",
  smoke: "mdi:smoke-detector-variant",
  windSpeed: "mdi:weather-windy",
  battery: "mdi:battery",
};

/** The icon of a device, chosen by its state, its measured field, its name or its kind, in this order. */
export function iconOf(device: Device): Icon {
  return byState(device) ?? byMeasure(device) ?? byName(device) ?? BY_KIND[device.kind];
}

function byState({ kind, state, capabilities }: Device): Icon | undefined {
  if (kind === "group" && (capabilities.position ?? capabilities.open)) return "mdi:roller-shade";
  if (kind === "lock" && state.locked === false) return "mdi:lock-open-variant";
  if (kind === "valve" && state.on === true) return "mdi:valve-open";
  if (kind === "alarm" && state.status === "triggered") return "mdi:shield-alert";
  return state.contact === false ? "mdi:window-open-variant" : undefined;
}

function byMeasure({ kind, capabilities }: Device): Icon | undefined {
  if (kind !== "sensor" && kind !== "binary-sensor") return undefined;
  const field = Object.keys(capabilities).find((name) => Object.hasOwn(BY_FIELD, name));
  return field === undefined ? undefined : BY_FIELD[field];
}

function byName({ kind, name }: Device): Icon | undefined {
  const isNamed = kind === "light" || kind === "plug" || kind === "switch";
  const patterns = kind === "cover" ? COVERS : isNamed ? BY_NAME : [];
  return patterns.find(([pattern]) => pattern.test(name))?.[1];
}
