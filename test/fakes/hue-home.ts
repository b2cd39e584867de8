import { createHash } from "node:crypto";

/** The id of a resource, a UUID, from a name such as `lamp-1-light-0` that tests can read. */
export function idOf(name: string): string {
  const digits = createHash("sha1").update(name).digest("hex");
  const parts = [
    [0, 8],
    [8, 12],
    [12, 16],
    [16, 20],
    [20, 32],
  ].map((at) => digits.slice(...at));
  return parts.join("-");
}

/** A resource as `GET /clip/v2/resource` lists it. */
export type FakeResource = { id: string; type: string } & Record<string, unknown>;

const GAMUT_C = {
  red: { x: 0.6915, y: 0.3083 },
  green: { x: 0.17, y: 0.7 },
  blue: { x: 0.1532, y: 0.0475 },
};

/** A service of a device, which gets its id and owner from that. */
type Service = { type: string } & Record<string, unknown>;

interface DevicePlan {
  /** Begins the names of the device and all its services, of which their ids are made. */
  readonly id: string;
  readonly name: string;
  readonly mac: string;
  readonly product?: string;
  readonly archetype?: string;
  readonly services: readonly Service[];
}

/** A device with its radio and its services, in the shapes that bridges of firmware 1.6x send. */
export function device({
  id,
  name,
  mac,
  product,
  archetype,
  services,
}: DevicePlan): FakeResource[] {
  const owner = { rid: idOf(id), rtype: "device" };
  const all = [
    ...services.map((service, index) => ({
      ...service,
      id: idOf(`${id}-${service.type.replaceAll("_", "-")}-${index}`),
    })),
    {
      type: "zigbee_connectivity",
      id: idOf(`${id}-radio`),
      mac_address: mac,
      status: "connected",
    },
  ] as FakeResource[];
  return [
    {
      id: idOf(id),
      type: "device",
      owner: BRIDGE,
      id_v1: "/lights/1",
      metadata: { name, archetype: archetype ?? "sultan_bulb" },
      product_data: {
        manufacturer_name: "Signify Netherlands B.V.",
        model_id: "LCA001",
        product_name: product ?? "Hue color lamp",
        product_archetype: archetype ?? "sultan_bulb",
        certified: true,
        software_version: "1.122.2",
      },
      identify: {},
      services: all.map((each) => ({ rid: each.id, rtype: each.type })),
    },
    ...all.map((each) => ({ ...each, owner })),
  ];
}

/** The description of the interface demands an owner of each device and scene. */
const BRIDGE = { rid: idOf("bridge-1"), rtype: "bridge" };

/** Fields that every light has and nothing here changes. */
const PARTS_OF_LIGHTS = { identify: {}, service_id: 0, mode: "normal" };

/** A lamp with colours, shades of white and an effect. */
export const colorLight = (archetype = "sultan_bulb"): Service => ({
  type: "light",
  metadata: { name: "Lamp", archetype, function: "mixed" },
  ...PARTS_OF_LIGHTS,
  on: { on: false },
  dimming: { brightness: 46.85, min_dim_level: 0.2 },
  color_temperature: {
    mirek: 366,
    mirek_valid: true,
    mirek_schema: { mirek_minimum: 153, mirek_maximum: 500 },
  },
  color: { xy: { x: 0.4573, y: 0.41 }, gamut: GAMUT_C, gamut_type: "C" },
  effects: {
    status: "no_effect",
    effect: "no_effect",
    status_values: ["no_effect", "candle"],
    effect_values: ["no_effect", "candle"],
  },
});

/** A plug, or a lamp that can only be on or off. */
export const onOffLight = (archetype: string): Service => ({
  type: "light",
  metadata: { name: "Switched", archetype, function: "functional" },
  ...PARTS_OF_LIGHTS,
  on: { on: false },
});

const button = (control: number): Service => ({
  type: "button",
  metadata: { control_id: control },
  button: { event_values: ["initial_press", "repeat", "short_release", "long_release"] },
});

const battery = {
  type: "device_power",
  power_state: { battery_state: "normal", battery_level: 83 },
};

/** Two lamps and a plug in a room, a zone, two scenes, a dial with buttons, a motion and a contact sensor. */
export function home(): FakeResource[] {
  const light = (id: string) => ({ rid: idOf(`${id}-light-0`), rtype: "light" });
  const room = { rid: idOf("room-1"), rtype: "room" };
  return [
    ...device({
      id: "lamp-1",
      name: "Desk",
      mac: "00:17:88:01:02:03:04:01",
      services: [colorLight()],
    }),
    ...device({
      id: "lamp-2",
      name: "Shelf",
      mac: "00:17:88:01:02:03:04:02",
      services: [colorLight()],
    }),
    ...device({
      id: "plug-1",
      name: "Kettle",
      mac: "00:17:88:01:02:03:04:03",
      product: "Hue smart plug",
      archetype: "plug",
      services: [onOffLight("plug")],
    }),
    ...device({
      id: "dial-1",
      name: "Dial",
      mac: "00:17:88:01:02:03:04:04",
      product: "Hue tap dial switch",
      services: [button(1), button(2), { type: "relative_rotary", relative_rotary: {} }, battery],
    }),
    ...device({
      id: "motion-1",
      name: "Hall",
      mac: "00:17:88:01:02:03:04:05",
      product: "Hue motion sensor",
      services: [
        { type: "motion", enabled: true, motion: motionReport(false) },
        {
          type: "temperature",
          enabled: true,
          temperature: { temperature: 18.14, temperature_valid: true },
        },
        {
          type: "light_level",
          enabled: true,
          light: { light_level: 18_027, light_level_valid: true },
        },
        battery,
      ],
    }),
    ...device({
      id: "door-1",
      name: "Front door",
      mac: "00:17:88:01:02:03:04:06",
      product: "Hue secure contact sensor",
      services: [
        { type: "contact", enabled: true, contact_report: { state: "contact", changed: NOON } },
        { type: "tamper", tamper_reports: [{ source: "battery_door", state: "not_tampered" }] },
        battery,
      ],
    }),
    {
      id: idOf("room-1"),
      type: "room",
      metadata: { name: "Study", archetype: "office" },
      children: [
        { rid: idOf("lamp-1"), rtype: "device" },
        { rid: idOf("lamp-2"), rtype: "device" },
      ],
      services: [{ rid: idOf("room-1-lights"), rtype: "grouped_light" }],
    },
    {
      id: idOf("zone-1"),
      type: "zone",
      metadata: { name: "Reading", archetype: "reading" },
      children: [light("lamp-1")],
      services: [{ rid: idOf("zone-1-lights"), rtype: "grouped_light" }],
    },
    group("room-1", "room"),
    group("zone-1", "zone"),
    {
      id: idOf("scene-1"),
      type: "scene",
      owner: BRIDGE,
      metadata: { name: "Bright" },
      group: room,
      actions: [
        {
          target: light("lamp-1"),
          action: {
            on: { on: true },
            dimming: { brightness: 100 },
            color_temperature: { mirek: 233 },
          },
        },
        { target: light("lamp-2"), action: { on: { on: true }, dimming: { brightness: 50 } } },
      ],
      speed: 0.5,
      auto_dynamic: false,
      status: { active: "inactive" },
    },
    {
      id: idOf("scene-2"),
      type: "smart_scene",
      metadata: { name: "Natural light" },
      group: room,
      week_timeslots: [
        {
          timeslots: [
            {
              start_time: { kind: "time", time: { hour: 7, minute: 0, second: 0 } },
              target: { rid: idOf("scene-1"), rtype: "scene" },
            },
          ],
          recurrence: ["saturday", "sunday"],
        },
      ],
      transition_duration: 60_000,
      state: "inactive",
    },
    {
      id: idOf("extra-1"),
      type: "entertainment",
      owner: { rid: idOf("lamp-1"), rtype: "device" },
    },
    {
      id: BRIDGE.rid,
      type: "bridge",
      owner: { rid: idOf("bridge-device"), rtype: "device" },
      bridge_id: "001788fffe123456",
      time_zone: { time_zone: "Europe/Berlin" },
    },
  ];
}

/** A doorbell, the sensors of the study together, and a motion area of its lamps. */
export function newerServices(): FakeResource[] {
  const owner = { rid: idOf("room-1"), rtype: "room" };
  const area = { rid: idOf("area-1"), rtype: "motion_area_configuration" };
  return [
    ...device({
      id: "bell-1",
      name: "Bell",
      mac: "00:17:88:01:02:03:04:07",
      product: "Hue Secure doorbell",
      services: [
        {
          type: "bell_button",
          metadata: { control_id: 1 },
          bell: { bell_report: { updated: NOON, event: "ring" } },
        },
      ],
    }),
    {
      id: idOf("room-1-motion"),
      type: "grouped_motion",
      owner,
      motion: { motion: true, motion_valid: true },
    },
    {
      id: idOf("room-1-level"),
      type: "grouped_light_level",
      owner,
      light: { light_level: 10_001, light_level_valid: true },
    },
    {
      id: area.rid,
      type: "motion_area_configuration",
      owner,
      name: "Desk area",
      enabled: true,
      health: "healthy",
      group: owner,
      motion_sensors: [{ rid: idOf("lamp-1"), rtype: "device" }],
    },
    {
      id: idOf("area-1-comfort"),
      type: "convenience_area_motion",
      owner: area,
      enabled: true,
      motion: { motion: false },
    },
    {
      id: idOf("area-1-security"),
      type: "security_area_motion",
      owner: area,
      enabled: false,
      motion: { motion: false },
    },
  ];
}

const NOON = "2026-11-20T12:00:00.000Z";

/** A report of a motion sensor in the current format. */
function motionReport(motion: boolean) {
  return { motion, motion_valid: true, motion_report: { changed: NOON, motion } };
}

function group(id: string, rtype: string): FakeResource {
  return {
    id: idOf(`${id}-lights`),
    type: "grouped_light",
    owner: { rid: idOf(id), rtype },
    on: { on: false },
    dimming: { brightness: 0 },
    alert: { action_values: ["breathe"] },
  };
}
