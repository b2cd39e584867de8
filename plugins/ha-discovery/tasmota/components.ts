import type { Fields } from "../abbreviations.ts";
import type { CreateHandler } from "../component-handler.ts";
import type { Announcement, Component } from "../discovery.ts";
import { readDevice, readSensors, type TasmotaDevice } from "./device.ts";
import { contact, isFollowing, presses } from "./inputs.ts";
import { light } from "./light.ts";
import { fan, relay, shutter } from "./outputs.ts";
import { sensor, sensorValues, status } from "./sensors.ts";

const TOPIC = /^tasmota\/discovery\/([0-9A-Za-z_-]{1,40})\/(config|sensors)$/;

/** The subscriptions for the announcements of Tasmota devices; the topics are fixed in the firmware. */
export const TASMOTA_FILTERS = [
  "tasmota/discovery/+/config",
  "tasmota/discovery/+/sensors",
] as const;

/** The device and the kind of announcement of a topic, or `undefined` for other topics. */
export function tasmotaPlaceOf(topic: string) {
  const [, mac, kind] = TOPIC.exec(topic) ?? [];
  if (mac === undefined || kind === undefined) return undefined;
  const at = (name: string) => `tasmota/discovery/${mac}/${name}`;
  return { mac, isSensors: kind === "sensors", config: at("config"), sensors: at("sensors") };
}

/**
 * The components of a device. Both announcements come in any order, and the one of the sensors may be missing.
 * @throws DiscoveryError if the device cannot be read
 */
export function readTasmota(
  { mac, config }: { readonly mac: string; readonly config: string },
  text: string,
  sensors: string | undefined,
): Announcement {
  const device = readDevice(mac, text);
  const all = [...outputsOf(device), ...inputsOf(device), ...statusesOf(device)];
  if (sensors) all.push(...sensorsOf(device, sensors));
  const components = all.map((draft) => componentOf(device, config, draft));
  return { components, migrates: false, refused: [] };
}

/** @throws DiscoveryError if it is not an announcement of sensors */
export function checkSensors(text: string): Announcement {
  readSensors(text);
  return { components: [], migrates: false, refused: [] };
}

/** A component before it has the topics and names that all of a device share. */
interface Draft {
  readonly id: string;
  readonly platform: string;
  readonly create: CreateHandler;
  readonly name?: string | undefined;
  readonly fields?: Readonly<Record<string, string | undefined>>;
}

const [RELAY, LIGHT, SHUTTER] = [1, 2, 3];

function outputsOf(device: TasmotaDevice): Draft[] {
  const first = device.outputs.indexOf(LIGHT);
  const shutters = shuttersIn(device.outputs);
  const isSingle =
    device.outputs.filter((output) => output === RELAY || output === LIGHT).length === 1;
  const outputs = device.outputs.flatMap((output, index): Draft[] => {
    const number = index + 1;
    const name = device.names[index] ?? (isSingle ? undefined : `Output ${number}`);
    const isPlain = output === RELAY || (device.isFan && output === LIGHT);
    if (isPlain) {
      const isLight = device.isFan || device.options.has("30");
      const kind = isLight ? "light" : "switch";
      return [{ id: `relay-${number}`, platform: kind, name, create: relay(device, index, kind) }];
    }
    if (output !== LIGHT) return [];
    return [
      { id: `light-${number}`, platform: "light", name, create: light(device, index, first) },
    ];
  });
  const covers = Array.from({ length: shutters }, (_, index): Draft => {
    const name = device.names[2 * index] ?? `Shutter ${index + 1}`;
    return { id: `shutter-${index + 1}`, platform: "cover", name, create: shutter(device, index) };
  });
  const fans: Draft[] = device.isFan ? [{ id: "fan", platform: "fan", create: fan(device) }] : [];
  return [...fans, ...outputs, ...covers];
}

/** Each shutter has two relays side by side; Tasmota has at most 16. */
function shuttersIn(outputs: readonly number[]): number {
  const relays = outputs.filter((output) => output === SHUTTER).length;
  return Math.min(16, Math.floor(relays / 2));
}

function inputsOf(device: TasmotaDevice): Draft[] {
  const switches = device.switches.flatMap((mode, index): Draft[] => {
    if (mode < 0) return [];
    const name = device.switchNames[index] ?? `Switch ${index + 1}`;
    const id = `switch-${index + 1}`;
    if (isFollowing(mode)) {
      return [{ id, platform: "binary_sensor", name, create: contact(device, index) }];
    }
    return [{ id, platform: "event", name, create: presses(device, `Switch${index + 1}`) }];
  });
  const buttons = device.buttons.flatMap((isThere, index): Draft[] => {
    const name = `Button${index + 1}`;
    if (!isThere) return [];
    return [{ id: `button-${index + 1}`, platform: "event", name, create: presses(device, name) }];
  });
  return [...switches, ...buttons];
}

function statusesOf(device: TasmotaDevice): Draft[] {
  const of = (id: string, path: readonly string[], fields: Draft["fields"]): Draft => ({
    id,
    platform: "sensor",
    name: id,
    create: status(device, path),
    fields: { entity_category: "diagnostic", ...fields },
  });
  const signal = of("signal", ["Wifi", "Signal"], {
    device_class: "signal_strength",
    unit_of_measurement: "dBm",
  });
  const battery = of("battery", ["BatteryPercentage"], {
    device_class: "battery",
    unit_of_measurement: "%",
  });
  return device.hasBattery ? [signal, battery] : [signal];
}

function sensorsOf(device: TasmotaDevice, text: string): Draft[] {
  return sensorValues(readSensors(text)).map((value) => ({
    id: `sensor-${value.path.join("-")}`,
    platform: "sensor",
    name: value.name,
    fields: { device_class: value.deviceClass, unit_of_measurement: value.unit },
    create: sensor(device, value),
  }));
}

function componentOf(
  device: TasmotaDevice,
  topic: string,
  { id, platform, create, name, fields = {} }: Draft,
): Component {
  const { mac, topics, online, offline } = device;
  const availability = {
    availability_topic: `${topics.tele}LWT`,
    payload_available: online,
    payload_not_available: offline,
  };
  const own = { unique_id: `tasmota-${mac}-${id}`, name, ...fields };
  return {
    platform,
    create,
    key: `${topic}#${id}`,
    objectId: id,
    // One that sleeps says "Offline" each time, and is there again by itself.
    fields: fieldsOf(device.isSleeping ? own : { ...own, ...availability }),
    device: fieldsOf({
      identifiers: `tasmota-${mac}`,
      name: device.name,
      manufacturer: "Tasmota",
      model: device.model,
      serial_number: mac,
      sw_version: device.firmware,
    }),
  };
}

const fieldsOf = (values: Readonly<Record<string, string | undefined>>): Fields =>
  new Map(Object.entries(values).filter(([, value]) => value !== undefined && value !== ""));
