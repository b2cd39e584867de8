import type { Color, CommandBody } from "@mantel/plugin-sdk";
import type { Action } from "../engine/document.ts";
import { entitiesIn } from "./changes.ts";
import { lightValues } from "./colors.ts";
import type { Match } from "./entities.ts";
import {
  type Fields,
  isFields,
  isTemplate,
  listOf,
  numberOf,
  refuseFields,
  type Scope,
  textOf,
  Unmappable,
} from "./scope.ts";
import { modeOf } from "./states.ts";

type Values = Readonly<Record<string, boolean | number | string | Color>>;
/** The values to send to a device. @throws Unmappable */
type Service = (data: Fields, scope: Scope, match: Match) => Values;

const TARGETS = ["entity_id", "device_id", "area_id", "floor_id", "label_id"] as const;
const CELSIUS_END = 45;

const on: Service = () => ({ on: true });
const off: Service = () => ({ on: false });
const press =
  (name: string): Service =>
  () => ({ [name]: true });
const percent =
  (field: string, name: string, factor = 1): Service =>
  (data) => ({
    [field]: Math.min(100, Math.max(0, Math.round(numberOf(data[name], name) * factor))),
  });
const choice =
  (field: string, name: string): Service =>
  (data) => ({ [field]: textOf(data[name], name) });
const yesNo =
  (field: string, name: string): Service =>
  (data) => ({ [field]: textOf(data[name], name) === "on" || data[name] === "true" });
const arm =
  (mode: string): Service =>
  (data) => {
    refuseFields(data, ["code"]);
    return { mode };
  };
const mode =
  (name: string): Service =>
  (data) => ({ mode: modeOf(textOf(data[name], name)) });

const ON_OFF = { turn_on: on, turn_off: off } as const;
const VALUE: Service = (data) => ({ value: numberOf(data["value"], "value") });
const TEXT: Service = (data) => ({ value: textOf(data["value"], "value") });
const MOVES = {
  open_cover: press("open"),
  close_cover: press("close"),
  stop_cover: press("stop"),
  open: press("open"),
  close: press("close"),
  stop: press("stop"),
  set_cover_position: percent("position", "position"),
  set_position: percent("position", "position"),
  set_cover_tilt_position: percent("tilt", "tilt_position"),
};
const lock =
  (locked: boolean): Service =>
  (data) => {
    refuseFields(data, ["code"]);
    return { locked };
  };

/** The services that are commands here, by domain. `toggle` is in `toggleOf`. */
const SERVICES: Readonly<Record<string, Readonly<Record<string, Service>>>> = {
  light: {
    turn_on: (data, scope) => lightValues(data, scope.note.bind(scope)),
    turn_off: lightOff,
  },
  switch: ON_OFF,
  input_boolean: ON_OFF,
  siren: ON_OFF,
  remote: {},
  group: ON_OFF,
  humidifier: {
    ...ON_OFF,
    set_humidity: percent("targetHumidity", "humidity"),
    set_mode: choice("mode", "mode"),
  },
  fan: {
    turn_on: fanOn,
    turn_off: off,
    set_percentage: percent("speed", "percentage"),
    set_preset_mode: choice("preset", "preset_mode"),
    oscillate: yesNo("oscillating", "oscillating"),
    set_direction: choice("direction", "direction"),
  },
  cover: MOVES,
  valve: {
    open_valve: () => ({ on: true }),
    close_valve: () => ({ on: false }),
    set_valve_position: percent("position", "position"),
  },
  climate: {
    turn_on: on,
    turn_off: (_data, _scope, { capabilities }) =>
      capabilities && !capabilities["on"] ? { mode: "off" } : { on: false },
    set_temperature: temperature,
    set_hvac_mode: mode("hvac_mode"),
    set_operation_mode: mode("operation_mode"),
    set_preset_mode: choice("preset", "preset_mode"),
    set_fan_mode: choice("fanMode", "fan_mode"),
    set_swing_mode: choice("swing", "swing_mode"),
    set_humidity: percent("targetHumidity", "humidity"),
  },
  water_heater: {
    ...ON_OFF,
    set_temperature: temperature,
    set_operation_mode: mode("operation_mode"),
    set_away_mode: yesNo("away", "away_mode"),
  },
  lock: { lock: lock(true), unlock: lock(false), open: press("unlatch") },
  media_player: {
    ...ON_OFF,
    media_play: () => ({ playback: "playing" }),
    media_pause: () => ({ playback: "paused" }),
    media_stop: () => ({ playback: "stopped" }),
    media_next_track: press("next"),
    media_previous_track: press("previous"),
    volume_set: percent("volume", "volume_level", 100),
    volume_mute: yesNo("muted", "is_volume_muted"),
    select_source: choice("source", "source"),
    shuffle_set: yesNo("shuffle", "shuffle"),
    repeat_set: choice("repeat", "repeat"),
  },
  vacuum: {
    start: press("start"),
    turn_on: press("start"),
    pause: press("pause"),
    stop: press("stop"),
    return_to_base: press("dock"),
    turn_off: press("dock"),
    locate: press("locate"),
    set_fan_speed: choice("fanSpeed", "fan_speed"),
  },
  lawn_mower: { start_mowing: press("start"), pause: press("pause"), dock: press("dock") },
  alarm_control_panel: {
    alarm_arm_home: arm("home"),
    alarm_arm_away: arm("away"),
    alarm_arm_night: arm("night"),
    alarm_arm_vacation: arm("vacation"),
    alarm_disarm: arm("disarmed"),
  },
  button: { press: press("press") },
  input_button: { press: press("press") },
  number: { set_value: VALUE },
  input_number: { set_value: VALUE },
  text: { set_value: TEXT },
  input_text: { set_value: TEXT },
  select: { select_option: choice("value", "option") },
  input_select: { select_option: choice("value", "option") },
};

/** Domains whose devices `homeassistant.turn_on` and the others switch. */
const SWITCHED = [
  ...["light", "switch", "input_boolean", "fan", "siren", "humidifier", "media_player", "climate"],
];

function lightOff(data: Fields, scope: Scope): Values {
  if (data["transition"] !== undefined)
    scope.note("lights change at once: transitions are left out");
  return { on: false };
}

function fanOn(data: Fields): Values {
  refuseFields(data, ["speed"]);
  if (data["percentage"] !== undefined) {
    return {
      on: true,
      speed: Math.min(100, Math.max(0, numberOf(data["percentage"], "percentage"))),
    };
  }
  const preset = data["preset_mode"];
  return { on: true, ...(preset !== undefined && { preset: textOf(preset, "preset_mode") }) };
}

/** Temperatures are in the unit of the home that the file is from; no room is warmer than 45 °C. */
function temperature(data: Fields, scope: Scope): Values {
  const read = (field: string, name: string) => {
    if (data[name] === undefined) return {};
    const value = numberOf(data[name], name);
    if (value <= CELSIUS_END) return { [field]: value };
    scope.note(`${value} degrees were read as °F`);
    return { [field]: Math.round(((value - 32) / 1.8) * 2) / 2 };
  };
  const values = {
    ...read("targetTemperature", "temperature"),
    ...read("targetTemperatureLow", "target_temp_low"),
    ...read("targetTemperatureHigh", "target_temp_high"),
    ...(data["hvac_mode"] !== undefined && {
      mode: modeOf(textOf(data["hvac_mode"], "hvac_mode")),
    }),
  };
  if (Object.keys(values).length === 0) throw new Unmappable("the temperature is missing");
  return values;
}

/** True if a service is one that `callService` knows, or may know. */
export function isNotification(domain: string, service: string): boolean {
  return domain === "notify" || (domain === "persistent_notification" && service === "create");
}

/** A message to the home. @throws Unmappable */
export function notification(data: Fields, scope: Scope): Action {
  const message = textOf(data["message"] ?? "", "message");
  const title = data["title"] === undefined ? "" : textOf(data["title"], "title");
  const text = [title, message].filter((each) => each !== "").join(": ");
  if (text === "") throw new Unmappable("the message is missing");
  if (/^clear_notification$/.test(message)) throw new Unmappable("messages cannot be withdrawn");
  if (isFields(data["data"]))
    scope.note("messages are text only: pictures, sounds and buttons are left out");
  scope.note("messages go to all receivers of the home");
  return { type: "notify", message: text.slice(0, 10_000) };
}

/** The actions for a call of a service of devices or scenes. @throws Unmappable */
export function callService(
  domain: string,
  service: string,
  fields: Fields,
  scope: Scope,
): Action[] {
  const { data, targets } = partsOf(fields);
  const wanted = domain === "homeassistant" ? undefined : domain;
  if (wanted !== undefined && wanted !== "scene" && !SERVICES[wanted])
    throw noCounterpart(domain, service);
  const matches = targetsOf(targets, wanted, scope);
  return matches.flatMap((match) => {
    const own = wanted ?? match.domain;
    if (wanted === undefined && !SWITCHED.includes(own) && own !== "scene") {
      throw new Unmappable(`${match.entity} cannot be switched here`);
    }
    if (own === "scene") {
      if (service !== "turn_on") throw noCounterpart(domain, service);
      return [{ type: "scene", scene: match.id }];
    }
    if (service === "toggle" || service === "media_play_pause") {
      return [toggleOf({ domain: own, service, data }, scope, match)];
    }
    return [commandOf({ domain: own, service, data }, scope, match)];
  });
}

/** A call of a service for one device. */
interface Call {
  readonly domain: string;
  readonly service: string;
  readonly data: Fields;
}

function commandOf({ domain, service, data }: Call, scope: Scope, match: Match): Action {
  const services = SERVICES[domain];
  const convert = services && Object.hasOwn(services, service) ? services[service] : undefined;
  if (!convert) throw noCounterpart(domain, service);
  const values = convert(data, scope, match);
  return { type: "command", device: match.id, command: bodyOf(match, values) };
}

/** A command that is the opposite of the present state. */
function toggleOf({ domain, service, data }: Call, scope: Scope, match: Match): Action {
  const isPlayer = service === "media_play_pause";
  const fields = [
    "light",
    "switch",
    "input_boolean",
    "fan",
    "siren",
    "humidifier",
    "group",
    "media_player",
  ];
  if (!fields.includes(domain)) throw noCounterpart(domain, service);
  const [field, value] = isPlayer ? (["playback", "playing"] as const) : (["on", true] as const);
  const [turnOn, turnOff] = isPlayer ? ["media_play", "media_pause"] : ["turn_on", "turn_off"];
  const place = match.part === undefined ? field : `parts/${match.part}/${field}`;
  return {
    type: "if",
    conditions: [{ type: "state", device: match.id, field: place, equals: value }],
    // oxlint-disable-next-line unicorn/no-thenable -- the word of the document
    then: [commandOf({ domain, service: turnOff, data: {} }, scope, match)],
    else: [commandOf({ domain, service: turnOn, data }, scope, match)],
  };
}

/** The command of a device, or of its part. @throws Unmappable for fields that it does not have */
function bodyOf({ capabilities, part, entity }: Match, values: Values): CommandBody {
  const absent = Object.keys(values).find(
    (name) => capabilities && capabilities[name] === undefined,
  );
  if (absent !== undefined) throw new Unmappable(`the device of ${entity} has no "${absent}"`);
  const fixed = Object.keys(values).find((name) => capabilities?.[name]?.readOnly === true);
  if (fixed !== undefined)
    throw new Unmappable(`"${fixed}" of the device of ${entity} cannot be set`);
  return part === undefined ? values : { parts: { [part]: values } };
}

/** The data and the targets of a call, which older files have in one place. @throws Unmappable for templates */
function partsOf(fields: Fields): { readonly data: Fields; readonly targets: Fields } {
  const given = [fields["data"], fields["data_template"]].filter(
    (each) => each !== undefined && each !== null,
  );
  if (given.some((each) => !isFields(each))) throw new Unmappable(`"data" is not a map of fields`);
  const data: Record<string, unknown> = Object.assign({}, ...given);
  const { target } = fields;
  if (target !== undefined && !isFields(target))
    throw new Unmappable(`"target" is not a map of fields`);
  const targets: Record<string, unknown> = {};
  for (const name of TARGETS) {
    const all = [target?.[name], fields[name], data[name]].flatMap(listOf);
    if (all.length > 0) targets[name] = all;
  }
  const template = Object.entries(data).find(([, value]) => isTemplate(value));
  if (template) throw new Unmappable(`"${template[0]}" is a template, which is not supported`);
  return { data, targets };
}

function targetsOf(targets: Fields, domain: string | undefined, scope: Scope): Match[] {
  refuseFields(targets, ["floor_id", "label_id"]);
  const found: Match[] = [];
  if (targets["entity_id"] !== undefined) {
    for (const entity of entitiesIn(targets["entity_id"])) {
      if (entity === "all" && domain !== undefined) {
        scope.note("“all” became the devices that are here now");
        found.push(...scope.entities.ofDomain(domain));
      } else found.push(ofDomain(scope.match(entity), domain));
    }
  }
  for (const id of listOf(targets["device_id"])) {
    const text = textOf(id, "device_id");
    found.push(scope.match(`${domain ?? "device"}.device_${text}`));
  }
  for (const id of listOf(targets["area_id"])) {
    const area = textOf(id, "area_id");
    const inside = domain === undefined ? [] : scope.entities.inArea(area, domain);
    if (inside.length === 0) throw new Unmappable(`the room ${area} has no such devices here`);
    scope.note(`the room ${area} became the devices that are in it now`);
    found.push(...inside);
  }
  if (found.length === 0) throw new Unmappable("there is no device in this call");
  return found;
}

/** The entity of a call must be of the service's domain; groups may have any. */
function ofDomain(match: Match, domain: string | undefined): Match {
  const isFitting = domain === undefined || match.domain === domain || match.domain === "group";
  if (isFitting || match.domain === "") return match;
  throw new Unmappable(`${match.entity} is not of the domain ${domain}`);
}

const noCounterpart = (domain: string, service: string) =>
  new Unmappable(`the service ${domain}.${service} has no counterpart`.slice(0, 200));
