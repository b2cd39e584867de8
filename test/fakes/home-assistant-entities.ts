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
    attributes: { current_position: 40, current_tilt_position: 10, supported_features: 255 },
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
    id: "climate.living",
    state: "heat_cool",
    attributes: {
      current_temperature: 21,
      temperature: 20,
      target_temp_low: 18,
      target_temp_high: 24,
      min_temp: 7,
      max_temp: 35,
      current_humidity: 40,
      humidity: 45,
      min_humidity: 30,
      max_humidity: 70,
      hvac_modes: ["off", "heat_cool", "heat", "cool", "fan_only"],
      fan_modes: ["auto", "high"],
      fan_mode: "auto",
      preset_modes: ["none", "eco"],
      preset_mode: "none",
      swing_modes: ["off", "on"],
      swing_mode: "off",
      swing_horizontal_modes: ["off", "on"],
      swing_horizontal_mode: "off",
      supported_features: 639,
    },
  },
  {
    id: "climate.office",
    state: "cool",
    attributes: {
      current_temperature: 26,
      temperature: 22,
      min_temp: 16,
      max_temp: 30,
      target_temp_step: 1,
      hvac_modes: ["off", "cool", "dry", "fan_only"],
      hvac_action: "cooling",
      fan_modes: ["low", "high"],
      fan_mode: "low",
      supported_features: 9,
    },
  },
  {
    id: "fan.ceiling",
    state: "on",
    attributes: {
      percentage: 66,
      percentage_step: 100 / 3,
      preset_modes: ["breeze", "sleep"],
      preset_mode: "breeze",
      oscillating: false,
      direction: "forward",
      supported_features: 15,
    },
  },
  {
    id: "fan.hood",
    state: "on",
    attributes: { percentage: 50, percentage_step: 25, supported_features: 1 },
  },
  { id: "lock.front", state: "locked", attributes: { supported_features: 0 } },
  {
    id: "lock.safe",
    state: "locked",
    attributes: { code_format: "^\\d{4}$", supported_features: 1 },
  },
  {
    id: "media_player.tv",
    state: "playing",
    attributes: {
      volume_level: 0.35,
      is_volume_muted: false,
      media_title: "A song",
      media_artist: "A singer",
      media_album_name: "An album",
      media_position: 20,
      media_duration: 200,
      shuffle: false,
      repeat: "off",
      sound_mode: "Movie",
      sound_mode_list: ["Movie", "Music"],
      source: "Radio",
      source_list: ["Radio", "TV"],
      supported_features: 383_421,
    },
  },
  {
    id: "media_player.kitchen",
    state: "playing",
    attributes: {
      friendly_name: "Kitchen",
      volume_level: 0.2,
      is_volume_muted: false,
      media_title: "A song",
      group_members: ["media_player.kitchen", "media_player.patio"],
      supported_features: 544_781,
    },
  },
  {
    id: "media_player.patio",
    state: "playing",
    attributes: {
      friendly_name: "Patio",
      volume_level: 0.5,
      is_volume_muted: false,
      media_title: "A song",
      group_members: ["media_player.kitchen", "media_player.patio"],
      supported_features: 544_781,
    },
  },
  {
    id: "media_player.attic",
    state: "idle",
    attributes: {
      friendly_name: "Attic",
      volume_level: 0.1,
      is_volume_muted: false,
      group_members: [],
      supported_features: 544_781,
    },
  },
  {
    id: "vacuum.robo",
    state: "docked",
    attributes: {
      battery_level: 80,
      fan_speed: "low",
      fan_speed_list: ["low", "high"],
      supported_features: 9_788,
    },
  },
  { id: "alarm_control_panel.home", state: "disarmed", attributes: { supported_features: 3 } },
  {
    id: "alarm_control_panel.office",
    state: "disarmed",
    attributes: { code_format: "number", code_arm_required: true, supported_features: 63 },
  },
  { id: "input_number.level", state: "20", attributes: { min: 0, max: 50, step: 5 } },
  {
    id: "number.boiler",
    state: "140",
    attributes: { min: 104, max: 158, step: 1, mode: "box", unit_of_measurement: "°F" },
  },
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
  {
    id: "humidifier.bedroom",
    state: "on",
    attributes: {
      device_class: "humidifier",
      min_humidity: 30,
      max_humidity: 80,
      humidity: 45,
      current_humidity: 41,
      available_modes: ["normal", "sleep"],
      mode: "normal",
      action: "humidifying",
      supported_features: 1,
    },
  },
  {
    id: "humidifier.cellar",
    state: "off",
    attributes: { device_class: "dehumidifier", min_humidity: 0, max_humidity: 100, humidity: 55 },
  },
  {
    id: "water_heater.boiler",
    state: "eco",
    attributes: {
      min_temp: 35,
      max_temp: 65,
      current_temperature: 48.5,
      temperature: 50,
      operation_list: ["off", "eco", "heat_pump"],
      operation_mode: "eco",
      away_mode: "off",
      supported_features: 15,
    },
  },
  {
    id: "siren.hall",
    state: "off",
    attributes: { available_tones: { 1: "fire", 2: "burglar" }, supported_features: 31 },
  },
  {
    id: "valve.garden",
    state: "closed",
    attributes: { device_class: "water", current_position: 0, supported_features: 15 },
  },
  { id: "lawn_mower.garden", state: "docked", attributes: { supported_features: 7 } },
  {
    id: "event.remote",
    state: "2026-11-20T12:00:00.000+00:00",
    attributes: {
      device_class: "button",
      event_types: ["press_end", "long_press_end"],
      event_type: "press_end",
    },
  },
  {
    id: "event.bell",
    state: "unknown",
    attributes: { device_class: "doorbell", event_types: ["ring"], event_type: null },
  },
  {
    id: "update.lamp",
    state: "on",
    attributes: {
      auto_update: false,
      display_precision: 0,
      device_class: "firmware",
      title: "Lamp",
      installed_version: "1.0",
      latest_version: "1.2",
      skipped_version: null,
      in_progress: false,
      update_percentage: null,
      supported_features: 7,
      release_summary: "Less flicker",
      release_url: "https://example.com/notes",
    },
    registry: { id: "reg-update", entity_category: "config" },
  },
  {
    id: "text.label",
    state: "Kitchen",
    attributes: { min: 0, max: 20, pattern: null, mode: "text" },
  },
  { id: "input_text.pin", state: "4711", attributes: { min: 4, max: 4, mode: "password" } },
  { id: "date.holiday", state: "2026-12-24", attributes: {} },
  { id: "time.wake", state: "06:30:00", attributes: {} },
  { id: "datetime.backup", state: "2026-11-20T12:00:00+00:00", attributes: {} },
  {
    id: "input_datetime.party",
    state: "2026-11-20 19:00:00",
    attributes: {
      editable: true,
      has_date: true,
      has_time: true,
      timestamp: 1_795_201_200,
      year: 2026,
      month: 11,
      day: 20,
      hour: 19,
      minute: 0,
      second: 0,
    },
  },
  {
    id: "input_datetime.lunch",
    state: "12:30:00",
    attributes: { has_date: false, has_time: true },
  },
  {
    id: "weather.home",
    state: "sunny",
    attributes: {
      temperature: 68,
      apparent_temperature: 70,
      dew_point: 50,
      temperature_unit: "°F",
      humidity: 60,
      cloud_coverage: 25,
      uv_index: 3.5,
      pressure: 30,
      pressure_unit: "inHg",
      wind_bearing: "NNE",
      wind_speed: 10,
      wind_gust_speed: 20,
      wind_speed_unit: "mph",
      visibility: 10,
      visibility_unit: "mi",
      precipitation_unit: "in",
      attribution: "A weather service",
    },
  },
  {
    id: "calendar.family",
    state: "off",
    attributes: {
      message: "Dentist",
      all_day: false,
      location: "Main Street",
      description: "",
      start_time: "2026-11-21 09:00:00",
      end_time: "2026-11-21 09:30:00",
    },
  },
  {
    id: "camera.yard",
    state: "streaming",
    attributes: { brand: "Demo", motion_detection: true, supported_features: 3 },
  },
  {
    id: "image.map",
    state: "2026-11-20T12:00:00.000000+00:00",
    attributes: {
      access_token: "0123456789abcdef",
      entity_picture: "/api/image_proxy/image.map?token=0123456789abcdef",
    },
  },
  {
    id: "device_tracker.phone",
    state: "Office",
    attributes: {
      source_type: "gps",
      latitude: 52.5,
      longitude: 13.4,
      gps_accuracy: 12,
      battery_level: 64,
    },
    registry: { id: "reg-phone", entity_category: "diagnostic" },
  },
  {
    id: "person.anna",
    state: "home",
    attributes: { id: "anna", user_id: null, device_trackers: ["device_tracker.phone"] },
  },
];

/** The state and attributes of each entity. */
export const ENTITIES = ROWS.map(({ id, state, attributes }) => ({ id, state, attributes }));

/** Fills a fake with a home. */
export function furnish(fake: FakeHomeAssistant): void {
  fake.areas.set("living", "Living room").set("cellar", "Cellar");
  fake.devices.set("dev-1", { area_id: "living", manufacturer: "Signify", model: "LCA001" });
  for (const { id, state, attributes, registry } of ROWS) {
    if (registry) fake.registry.set(id, { entity_id: id, ...registry });
    fake.set(id, state, attributes);
  }
}
