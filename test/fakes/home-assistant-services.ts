import facts from "../fixtures/home-assistant/services.json" with { type: "json" };
import { shapeFaults, type Shapes } from "../helpers/shape.ts";

export type Json = Record<string, unknown>;

/** Whose entities a service changes. */
interface Home {
  readonly entities: ReadonlyMap<string, { readonly attributes: Json }>;
  change(id: string, attributes: Json, state?: string): void;
  /** Where an entity on its way arrives when it settles; nowhere without a state. */
  headFor(id: string, state?: string, attributes?: Json): void;
}

export interface ServiceCall {
  readonly service: string;
  readonly data: Json;
  readonly entityId: string;
}
type Act = (fake: Home, call: ServiceCall) => void;

const SERVICES: Readonly<Record<string, { feature?: number; fields: Record<string, string> }>> =
  facts;
const SHAPES: Shapes = Object.fromEntries(
  Object.entries(SERVICES).map(([name, { fields }]) => [name, fields]),
);

/** Carries out a service on an entity that exists, as the integrations of Home Assistant's core do. */
export function callService(
  fake: Home,
  call: ServiceCall,
): { code: string; message: string } | undefined {
  const refusal = refusalOf(fake, call);
  if (refusal) return refusal;
  const [, name = ""] = call.service.split(".");
  const act = ACTS[call.service] ?? ACTS[name];
  if (!act) throw new Error(`the fake does not carry out ${call.service}`);
  act(fake, call);
  return undefined;
}

/** Home Assistant knows its services, their fields and the features that they need. */
function refusalOf(fake: Home, { service, data, entityId }: ServiceCall) {
  const known = SERVICES[service];
  if (!known) return { code: "not_found", message: `Service ${service} not found.` };
  const isEmpty = Object.keys(known.fields).length === 0;
  const faults = isEmpty ? Object.keys(data) : shapeFaults(SHAPES, service, data);
  if (faults.length > 0) return { code: "invalid_format", message: faults.join("; ") };
  const { attributes = {} } = fake.entities.get(entityId) ?? {};
  const features = Number(attributes["supported_features"] ?? 0);
  if (known.feature !== undefined && (features & known.feature) === 0) {
    const message = `Entity ${entityId} does not support action ${service}.`;
    return { code: "service_validation_error", message };
  }
  if (data["effect"] === "broken") {
    return { code: "home_assistant_error", message: "the lamp does not answer" };
  }
  if (data["code"] !== undefined && data["code"] !== "1234") {
    return { code: "home_assistant_error", message: "Invalid alarm code provided" };
  }
  return undefined;
}

const setTo =
  (state: string): Act =>
  (fake, { entityId }) =>
    fake.change(entityId, {}, state);

const setAttributes: Act = (fake, { entityId, data }) => fake.change(entityId, data);

const now: Act = (fake, { entityId }) => fake.change(entityId, {}, new Date().toISOString());

/** Changes the state to a field of the call. */
const setState =
  (field: string): Act =>
  (fake, { entityId, data }) =>
    fake.change(entityId, {}, String(data[field]));

/** Changes the state at once, and to another one later. */
const via =
  (state: string, later: string): Act =>
  (fake, { entityId }) => {
    fake.headFor(entityId, later);
    fake.change(entityId, {}, state);
  };

/** Moves to a position, or to that of the call. */
const moveTo =
  (fixed?: number): Act =>
  (fake, { entityId, data }) => {
    const to = fixed ?? Number(data["position"]);
    const from = Number(fake.entities.get(entityId)?.attributes["current_position"]);
    if (to === from) return halt(fake, { service: "", data, entityId });
    fake.headFor(entityId, to > 0 ? "open" : "closed", { current_position: to });
    fake.change(entityId, {}, to > from ? "opening" : "closing");
  };

const halt: Act = (fake, { entityId }) => {
  fake.headFor(entityId);
  const { current_position: position } = fake.entities.get(entityId)?.attributes ?? {};
  fake.change(entityId, {}, position === 0 ? "closed" : "open");
};

/** The players that play together, the leader first. */
function membersOf(fake: Home, id: string): string[] {
  const members = fake.entities.get(id)?.attributes["group_members"];
  return Array.isArray(members) && members.length > 0 ? (members as string[]) : [id];
}

function showGroup(fake: Home, members: readonly string[]): void {
  for (const id of members) fake.change(id, { group_members: members });
}

/** The others stay together, under the next of them. */
function leaveGroup(fake: Home, id: string): void {
  const others = membersOf(fake, id).filter((each) => each !== id);
  showGroup(fake, others);
  showGroup(fake, [id]);
}

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
  "water_heater.turn_on": (fake, { entityId }) =>
    fake.change(entityId, { operation_mode: "eco" }, "eco"),
  "water_heater.turn_off": (fake, { entityId }) =>
    fake.change(entityId, { operation_mode: "off" }, "off"),
  "camera.turn_on": () => undefined,
  "camera.turn_off": () => undefined,
  turn_on: setTo("on"),
  turn_off: setTo("off"),
  "scene.turn_on": now,
  press: now,
  lock: setTo("locked"),
  unlock: setTo("unlocked"),
  "lock.open": setTo("open"),
  set_cover_position: moveTo(),
  set_valve_position: moveTo(),
  set_cover_tilt_position: (fake, { entityId, data }) =>
    fake.change(entityId, { current_tilt_position: data["tilt_position"] }),
  open_cover_tilt: (fake, { entityId }) => fake.change(entityId, { current_tilt_position: 100 }),
  close_cover_tilt: (fake, { entityId }) => fake.change(entityId, { current_tilt_position: 0 }),
  stop_cover_tilt: () => undefined,
  open_cover: moveTo(100),
  close_cover: moveTo(0),
  stop_cover: halt,
  open_valve: moveTo(100),
  close_valve: moveTo(0),
  stop_valve: halt,
  set_hvac_mode: setState("hvac_mode"),
  set_temperature: setAttributes,
  set_humidity: setAttributes,
  set_mode: setAttributes,
  set_preset_mode: setAttributes,
  set_fan_mode: setAttributes,
  set_swing_mode: setAttributes,
  set_swing_horizontal_mode: setAttributes,
  set_operation_mode: (fake, { entityId, data }) =>
    fake.change(entityId, data, String(data["operation_mode"])),
  set_away_mode: (fake, { entityId, data }) =>
    fake.change(entityId, { away_mode: data["away_mode"] === true ? "on" : "off" }),
  set_percentage: (fake, { entityId, data }) => fake.change(entityId, data, "on"),
  oscillate: setAttributes,
  set_direction: setAttributes,
  media_play: setTo("playing"),
  media_pause: setTo("paused"),
  media_stop: setTo("idle"),
  media_next_track: (fake, { entityId }) => fake.change(entityId, { media_title: "Next" }),
  media_previous_track: (fake, { entityId }) => fake.change(entityId, { media_title: "Previous" }),
  volume_set: setAttributes,
  volume_mute: setAttributes,
  select_source: setAttributes,
  select_sound_mode: setAttributes,
  shuffle_set: setAttributes,
  repeat_set: setAttributes,
  join: (fake, { entityId, data }) => {
    const joining = data["group_members"] as string[];
    for (const id of [entityId, ...joining]) {
      if (id !== entityId || membersOf(fake, entityId)[0] !== entityId) leaveGroup(fake, id);
    }
    showGroup(fake, [...membersOf(fake, entityId), ...joining]);
  },
  unjoin: (fake, { entityId }) => leaveGroup(fake, entityId),
  start: setTo("cleaning"),
  clean_spot: setTo("cleaning"),
  pause: setTo("paused"),
  stop: setTo("idle"),
  return_to_base: via("returning", "docked"),
  start_mowing: setTo("mowing"),
  dock: via("returning", "docked"),
  locate: () => undefined,
  set_fan_speed: setAttributes,
  alarm_disarm: setTo("disarmed"),
  alarm_arm_home: setTo("armed_home"),
  alarm_arm_away: via("arming", "armed_away"),
  alarm_arm_night: setTo("armed_night"),
  alarm_arm_vacation: setTo("armed_vacation"),
  alarm_arm_custom_bypass: setTo("armed_custom_bypass"),
  alarm_trigger: setTo("triggered"),
  install: (fake, { entityId }) => {
    const { latest_version: installed_version } = fake.entities.get(entityId)?.attributes ?? {};
    fake.headFor(entityId, "off", { in_progress: false, installed_version });
    fake.change(entityId, { in_progress: true });
  },
  skip: setTo("off"),
  set_value: setState("value"),
  "date.set_value": setState("date"),
  // Home Assistant adds seconds, and writes instants in UTC
  "time.set_value": (fake, { entityId, data }) =>
    fake.change(entityId, {}, String(data["time"]).padEnd(8, ":00")),
  "datetime.set_value": (fake, { entityId, data }) => {
    const utc = new Date(String(data["datetime"])).toISOString().replace(/\.\d+Z$/, "+00:00");
    fake.change(entityId, {}, utc);
  },
  set_datetime: (fake, { entityId, data }) => {
    const { date, time, datetime } = data;
    fake.change(entityId, {}, [date, time, datetime].find((text) => text !== undefined) as string);
  },
  select_option: setState("option"),
};
