import type { Json } from "./home-assistant-services.ts";
import type { FakeHomeAssistant } from "./home-assistant.ts";

interface Row {
  readonly id: string;
  readonly state: string;
  readonly attributes: Json;
  /** Of its registry entry; absent for an entity without one. */
  readonly registry?: Json;
}

/** One of each kind of entity, in the words of Home Assistant's demo and core integrations. */
const ROWS: readonly Row[] = [
  {
    id: "light.sofa",
    state: "on",
    attributes: {
      friendly_name: "Sofa lamp",
      supported_color_modes: ["color_temp", "hs"],
      color_mode: "color_temp",
      min_color_temp_kelvin: 2_202,
      max_color_temp_kelvin: 6_535,
      brightness: 158,
      color_temp_kelvin: 2_702,
      hs_color: [28.3, 64.9],
      effect_list: ["none", "candle", "broken"],
      effect: "none",
      supported_features: 44,
    },
    registry: { id: "reg-sofa", device_id: "dev-1" },
  },
  {
    id: "light.simple",
    state: "off",
    attributes: { friendly_name: "Cellar", supported_color_modes: ["onoff"] },
    registry: { id: "reg-cellar", area_id: "cellar" },
  },
  { id: "switch.plug", state: "on", attributes: { device_class: "outlet" } },
  {
    id: "sensor.outside",
    state: "68.0",
    attributes: {
      device_class: "temperature",
      unit_of_measurement: "°F",
      state_class: "measurement",
    },
  },
  {
    id: "sensor.energy",
    state: "1250",
    attributes: { device_class: "energy", unit_of_measurement: "Wh" },
  },
  { id: "sensor.wind", state: "12.5", attributes: { unit_of_measurement: "km/h" } },
  {
    id: "sensor.washer",
    state: "spin",
    attributes: { device_class: "enum", options: ["idle", "wash", "spin"] },
  },
  { id: "binary_sensor.door", state: "off", attributes: { device_class: "door" } },
  { id: "binary_sensor.hall", state: "on", attributes: { device_class: "motion" } },
  {
    id: "cover.blind",
    state: "open",
    attributes: { current_position: 40, current_tilt_position: 10, supported_features: 143 },
  },
  {
    id: "climate.hall",
    state: "heat",
    attributes: {
      current_temperature: 19.2,
      temperature: 20.5,
      min_temp: 5,
      max_temp: 30,
      target_temp_step: 0.5,
      hvac_modes: ["off", "heat", "auto"],
      hvac_action: "heating",
      supported_features: 1,
    },
  },
  {
    id: "fan.hood",
    state: "on",
    attributes: { percentage: 50, percentage_step: 25, supported_features: 1 },
  },
  { id: "lock.front", state: "locked", attributes: { supported_features: 0 } },
  { id: "lock.safe", state: "locked", attributes: { code_format: "number" } },
  {
    id: "media_player.tv",
    state: "playing",
    attributes: {
      volume_level: 0.35,
      is_volume_muted: false,
      media_title: "A song",
      media_artist: "A singer",
      media_duration: 200,
      source: "Radio",
      source_list: ["Radio", "TV"],
      supported_features: 1 | 4 | 8 | 16 | 32 | 128 | 256 | 2_048 | 4_096 | 16_384,
    },
  },
  {
    id: "vacuum.robo",
    state: "docked",
    attributes: { battery_level: 80, supported_features: 8_732 },
  },
  { id: "alarm_control_panel.home", state: "disarmed", attributes: { supported_features: 3 } },
  { id: "input_number.level", state: "20", attributes: { min: 0, max: 50, step: 5 } },
  { id: "input_select.mode", state: "day", attributes: { options: ["day", "night"] } },
  { id: "button.restart", state: "2026-01-01T00:00:00+00:00", attributes: {} },
  {
    id: "scene.dusk",
    state: "unknown",
    attributes: { friendly_name: "Dusk", icon: "mdi:weather-sunset" },
    registry: { id: "reg-dusk", area_id: "living" },
  },
  {
    id: "sensor.link_quality",
    state: "80",
    attributes: { unit_of_measurement: "lqi" },
    registry: { id: "reg-lqi", entity_category: "diagnostic" },
  },
  { id: "weather.home", state: "sunny", attributes: {} },
];

/** Fills a fake with a home. */
export function furnish(fake: FakeHomeAssistant): void {
  fake.areas.set("living", "Living room").set("cellar", "Cellar");
  fake.devices.set("dev-1", { area_id: "living", manufacturer: "Signify", model: "LCA001" });
  for (const { id, state, attributes, registry } of ROWS) {
    if (registry) fake.registry.set(id, { entity_id: id, ...registry });
    fake.set(id, state, attributes);
  }
}
