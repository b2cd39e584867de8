export type Json = Record<string, unknown>;

/** Whose entities a service changes. */
interface Home {
  change(id: string, attributes: Json, state?: string): void;
}

interface ServiceCall {
  readonly service: string;
  readonly data: Json;
  readonly entityId: string;
}
type Act = (fake: Home, call: ServiceCall) => void;

/** Carries out a service on an entity that exists, as the integrations of Home Assistant's core do. */
export function callService(
  fake: Home,
  call: ServiceCall,
): { code: string; message: string } | undefined {
  const [, name = ""] = call.service.split(".");
  const act = ACTS[call.service] ?? ACTS[name];
  if (!act) return { code: "not_found", message: `Service ${call.service} not found.` };
  if (call.data["effect"] === "broken") {
    return { code: "home_assistant_error", message: "the lamp does not answer" };
  }
  act(fake, call);
  return undefined;
}

const setTo =
  (state: string): Act =>
  (fake, { entityId, data }) =>
    fake.change(entityId, data, state);

const now: Act = (fake, { entityId }) => fake.change(entityId, {}, new Date().toISOString());

const ACTS: Readonly<Record<string, Act>> = {
  "light.turn_on": (fake, { entityId, data }) => {
    const { color_temp_kelvin: kelvin, hs_color: color, ...rest } = data;
    const mode = { ...(kelvin ? { color_mode: "color_temp" } : color ? { color_mode: "hs" } : {}) };
    const white = kelvin ? { color_temp_kelvin: kelvin } : color ? { color_temp_kelvin: null } : {};
    fake.change(
      entityId,
      { ...rest, ...white, ...mode, ...(color ? { hs_color: color } : {}) },
      "on",
    );
  },
  "light.turn_off": (fake, { entityId }) =>
    fake.change(entityId, { brightness: null, hs_color: null, color_temp_kelvin: null }, "off"),
  turn_on: setTo("on"),
  turn_off: setTo("off"),
  "scene.turn_on": now,
  press: now,
  lock: setTo("locked"),
  unlock: setTo("unlocked"),
  set_cover_position: (fake, { entityId, data }) =>
    fake.change(entityId, {}, Number(data["position"]) > 0 ? "opening" : "closing"),
  set_cover_tilt_position: (fake, { entityId, data }) =>
    fake.change(entityId, { current_tilt_position: data["tilt_position"] }),
  open_cover: setTo("opening"),
  close_cover: setTo("closing"),
  stop_cover: setTo("open"),
  set_hvac_mode: (fake, { entityId, data }) => fake.change(entityId, {}, String(data["hvac_mode"])),
  set_temperature: (fake, { entityId, data }) => fake.change(entityId, data),
  set_preset_mode: (fake, { entityId, data }) => fake.change(entityId, data),
  set_fan_mode: (fake, { entityId, data }) => fake.change(entityId, data),
  set_percentage: (fake, { entityId, data }) => fake.change(entityId, data, "on"),
  oscillate: (fake, { entityId, data }) => fake.change(entityId, data),
  set_direction: (fake, { entityId, data }) => fake.change(entityId, data),
  media_play: setTo("playing"),
  media_pause: setTo("paused"),
  media_stop: setTo("idle"),
  media_next_track: (fake, { entityId }) => fake.change(entityId, { media_title: "Next" }),
  media_previous_track: (fake, { entityId }) => fake.change(entityId, { media_title: "Previous" }),
  volume_set: (fake, { entityId, data }) => fake.change(entityId, data),
  volume_mute: (fake, { entityId, data }) => fake.change(entityId, data),
  select_source: (fake, { entityId, data }) => fake.change(entityId, data),
  start: setTo("cleaning"),
  pause: setTo("paused"),
  stop: setTo("idle"),
  return_to_base: setTo("returning"),
  locate: () => undefined,
  set_fan_speed: (fake, { entityId, data }) => fake.change(entityId, data),
  alarm_disarm: setTo("disarmed"),
  alarm_arm_home: setTo("armed_home"),
  alarm_arm_away: setTo("arming"),
  set_value: (fake, { entityId, data }) => fake.change(entityId, {}, String(data["value"])),
  select_option: (fake, { entityId, data }) => fake.change(entityId, {}, String(data["option"])),
};
