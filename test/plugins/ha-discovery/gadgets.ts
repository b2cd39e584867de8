import type { Peer } from "./home.ts";

type Answer = (payload: string) => void;

/** A device of MQTT discovery that does what it is told, and reports it on its state topics. */
export class Gadget {
  readonly nativeId: string;
  /** True while it takes commands without following them. */
  isStalled = false;
  readonly #peer: Peer;
  readonly #base: string;
  readonly #told = new Map<string, string>();
  readonly #missed: (() => void)[] = [];
  readonly #announcements: (readonly [platform: string, config: object])[] = [];
  readonly #commands = new Map<string, Answer>();

  constructor(peer: Peer, nativeId: string) {
    this.#peer = peer;
    this.nativeId = nativeId;
    this.#base = nativeId.replace(":", "-");
  }

  /** A component; its topics are relative to the device. */
  add(platform: string, config: Readonly<Record<string, unknown>>): this {
    const entries = Object.entries(config).map(([key, value]) =>
      key.endsWith("topic") ? [key, `${this.#base}/${String(value)}`] : [key, value],
    );
    const [, id = ""] = this.nativeId.split(":");
    const isFirst = this.#announcements.length === 0;
    const own = {
      uniq_id: isFirst ? id : `${id}-${this.#announcements.length}`,
      dev: { ids: [id] },
      name: isFirst ? id : `Extra ${this.#announcements.length}`,
      avty_t: `${this.#base}/status`,
    };
    this.#announcements.push([platform, { ...own, ...Object.fromEntries(entries) }]);
    return this;
  }

  /** Reports what comes on one topic on another, from `initial` on. */
  echo(command: string, state: string, initial: string): this {
    return this.on(command, (payload) => this.tell(state, payload)).tell(state, initial);
  }

  /** Reports the same whatever comes on a topic. */
  echoAs(command: string, state: string, report: string): this {
    return this.on(command, () => this.tell(state, report));
  }

  on(command: string, answer: Answer): this {
    this.#commands.set(`${this.#base}/${command}`, answer);
    return this;
  }

  tell(state: string, payload: string): this {
    this.#told.set(state, payload);
    void this.#publish(state);
    return this;
  }

  async announce(): Promise<void> {
    await this.#peer.hear(`${this.#base}/#`, (payload, topic) => this.#take(topic, payload));
    for (const [index, [platform, config]] of this.#announcements.entries()) {
      await this.#peer.announce(`${platform}/${this.#base}-${index}`, config);
    }
    await this.setOnline(true);
    for (const state of this.#told.keys()) await this.#publish(state);
  }

  async setOnline(isOnline: boolean): Promise<void> {
    await this.#peer.tell(`${this.#base}/status`, isOnline ? "online" : "offline", true);
  }

  follow(): void {
    this.isStalled = false;
    for (const work of this.#missed.splice(0)) work();
  }

  #take(topic: string, payload: string): void {
    const answer = this.#commands.get(topic);
    if (!answer) return;
    if (!this.isStalled) return answer(payload);
    for (const state of this.#told.keys()) void this.#publish(state);
    this.#missed.push(() => answer(payload));
  }

  async #publish(state: string): Promise<void> {
    await this.#peer.tell(`${this.#base}/${state}`, this.#told.get(state) ?? "", true);
  }
}

/** One of each kind of device. */
export function gadgets(peer: Peer): Gadget[] {
  const acting = [...lights(peer), ...fans(peer), ...covers(peer), ...climates(peer)];
  return [...acting, ...others(peer), ...reporting(peer), ...composed(peer)];
}

/** Devices with several functions. */
function composed(peer: Peer): Gadget[] {
  const lamp = {
    command_topic: "lamp/set",
    state_topic: "lamp",
    brightness_command_topic: "level/set",
    brightness_state_topic: "level",
  };
  const fan = new Gadget(peer, "fan:ceiling")
    .add("fan", {
      command_topic: "set",
      state_topic: "s",
      percentage_command_topic: "p/set",
      percentage_state_topic: "p",
    })
    .add("light", lamp)
    .add("sensor", { state_topic: "t", device_class: "temperature", unit_of_measurement: "°F" })
    .echo("set", "s", "OFF")
    .echo("p/set", "p", "20")
    .echo("lamp/set", "lamp", "ON")
    .echo("level/set", "level", "200")
    .tell("t", "70");
  const relay = (number: number) => ({ command_topic: `${number}/set`, state_topic: `${number}` });
  const strip = new Gadget(peer, "climate:strip")
    .add("climate", {
      mode_command_topic: "mode/set",
      mode_state_topic: "mode",
      temperature_command_topic: "temperature/set",
      temperature_state_topic: "temperature",
      temperature_unit: "F",
      modes: ["off", "heat"],
    })
    .add("switch", relay(1))
    .add("switch", relay(2))
    .echo("1/set", "1", "ON")
    .echo("2/set", "2", "OFF")
    .echo("mode/set", "mode", "heat")
    .echo("temperature/set", "temperature", "70");
  return [fan, strip];
}

function lights(peer: Peer): Gadget[] {
  const topics = (name: string) => ({
    [`${name}_command_topic`]: `${name}/set`,
    [`${name}_state_topic`]: name,
  });
  const plain = new Gadget(peer, "light:plain")
    .add("light", {
      command_topic: "set",
      state_topic: "s",
      effect_list: ["rainbow", "fire"],
      ...topics("brightness"),
      ...topics("color_temp"),
      ...topics("hs"),
      ...topics("effect"),
    })
    .echo("set", "s", "ON")
    .echo("brightness/set", "brightness", "100")
    .echo("color_temp/set", "color_temp", "300")
    .echo("hs/set", "hs", "10,20")
    .echo("effect/set", "effect", "fire");
  const coarse = new Gadget(peer, "light:coarse")
    .add("light", {
      command_topic: "set",
      state_topic: "s",
      brightness_scale: 10,
      ...topics("brightness"),
    })
    .echo("set", "s", "ON")
    .echo("brightness/set", "brightness", "5");
  return [plain, coarse, jsonLight(peer, "hs"), jsonLight(peer, "rgb")];
}

function jsonLight(peer: Peer, mode: string): Gadget {
  const gadget = new Gadget(peer, `light:${mode}`).add("light", {
    schema: "json",
    command_topic: "set",
    state_topic: "s",
    brightness: true,
    supported_color_modes: [mode, "color_temp"],
    brightness_scale: 254,
  });
  let state: Record<string, unknown> = { state: "ON", brightness: 100, color_mode: mode };
  const tell = () => gadget.tell("s", JSON.stringify(state));
  return gadget
    .on("set", (payload) => {
      const asked = JSON.parse(payload) as Record<string, unknown>;
      const colorMode = asked["color"] ? mode : asked["color_temp"] ? "color_temp" : undefined;
      state = { ...state, ...asked, ...(colorMode ? { color_mode: colorMode } : {}) };
      tell();
    })
    .tell("s", JSON.stringify(state));
}

function fans(peer: Peer): Gadget[] {
  return [1, 3].map((levels) =>
    new Gadget(peer, `fan:fan-${levels}`)
      .add("fan", {
        command_topic: "set",
        state_topic: "s",
        speed_range_max: levels,
        percentage_command_topic: "p/set",
        percentage_state_topic: "p",
        preset_mode_command_topic: "m/set",
        preset_mode_state_topic: "m",
        oscillation_command_topic: "o/set",
        oscillation_state_topic: "o",
        direction_command_topic: "d/set",
        direction_state_topic: "d",
        preset_modes: ["auto", "sleep"],
      })
      .echo("set", "s", "OFF")
      .echo("p/set", "p", "1")
      .echo("m/set", "m", "auto")
      .echo("o/set", "o", "oscillate_off")
      .echo("d/set", "d", "forward"),
  );
}

function covers(peer: Peer): Gadget[] {
  const turn = (gadget: Gadget, position: string | undefined) => (payload: string) => {
    if (payload === "STOP") return;
    const isOpen = payload === "OPEN";
    gadget.tell("s", isOpen ? "opening" : "closing");
    if (position !== undefined) gadget.tell(position, isOpen ? "100" : "0");
    gadget.tell("s", isOpen ? "open" : "closed");
  };
  const blind = new Gadget(peer, "cover:blind").add("cover", {
    command_topic: "set",
    state_topic: "s",
    position_topic: "p",
    set_position_topic: "p/set",
    tilt_command_topic: "t/set",
    tilt_status_topic: "t",
    tilt_max: 40,
  });
  blind
    .on("set", turn(blind, "p"))
    .echo("p/set", "p", "30")
    .echo("t/set", "t", "20")
    .tell("s", "open");
  const garage = new Gadget(peer, "cover:garage").add("cover", {
    command_topic: "set",
    state_topic: "s",
  });
  garage.on("set", turn(garage, undefined)).tell("s", "open");
  const valve = new Gadget(peer, "valve:water").add("valve", {
    command_topic: "set",
    state_topic: "s",
  });
  valve.on("set", turn(valve, undefined)).tell("s", "closed");
  const tap = new Gadget(peer, "valve:tap")
    .add("valve", { command_topic: "set", state_topic: "s", reports_position: true })
    .echo("set", "s", "50");
  return [blind, garage, valve, tap];
}

function climates(peer: Peer): Gadget[] {
  const topics = (name: string) => ({
    [`${name}_command_topic`]: `${name}/set`,
    [`${name}_state_topic`]: name,
  });
  const celsius = new Gadget(peer, "climate:celsius")
    .add("climate", {
      ...topics("mode"),
      ...topics("temperature"),
      ...topics("fan_mode"),
      ...topics("swing_mode"),
      ...topics("swing_horizontal_mode"),
      ...topics("preset_mode"),
      ...topics("target_humidity"),
      preset_modes: ["eco", "away"],
      modes: ["off", "heat", "heat_cool"],
      temp_step: 0.5,
    })
    .echo("mode/set", "mode", "heat")
    .echo("temperature/set", "temperature", "20")
    .echo("fan_mode/set", "fan_mode", "low")
    .echo("swing_mode/set", "swing_mode", "on")
    .echo("swing_horizontal_mode/set", "swing_horizontal_mode", "on")
    .echo("preset_mode/set", "preset_mode", "eco")
    .echo("target_humidity/set", "target_humidity", "50");
  const range = new Gadget(peer, "climate:fahrenheit")
    .add("climate", {
      ...topics("mode"),
      ...topics("temperature_low"),
      ...topics("temperature_high"),
      temperature_unit: "F",
    })
    .echo("mode/set", "mode", "auto")
    .echo("temperature_low/set", "temperature_low", "60")
    .echo("temperature_high/set", "temperature_high", "80");
  const heater = new Gadget(peer, "water_heater:boiler")
    .add("water_heater", { ...topics("mode"), ...topics("temperature") })
    .echo("mode/set", "mode", "eco")
    .echo("temperature/set", "temperature", "50");
  const cooler = new Gadget(peer, "climate:cooler")
    .add("climate", {
      ...topics("mode"),
      ...topics("temperature"),
      ...topics("fan_mode"),
      modes: ["off", "cool", "dry", "fan_only"],
      current_temperature_topic: "t",
      action_topic: "a",
    })
    .echo("mode/set", "mode", "cool")
    .echo("temperature/set", "temperature", "22")
    .echo("fan_mode/set", "fan_mode", "low")
    .tell("t", "26")
    .tell("a", "cooling");
  const dryer = new Gadget(peer, "humidifier:dry")
    .add("humidifier", {
      command_topic: "set",
      state_topic: "s",
      device_class: "dehumidifier",
      current_humidity_topic: "h",
      action_topic: "a",
      ...topics("target_humidity"),
    })
    .echo("set", "s", "ON")
    .echo("target_humidity/set", "target_humidity", "45")
    .tell("h", "60")
    .tell("a", "drying");
  const humidifier = new Gadget(peer, "humidifier:moist")
    .add("humidifier", {
      command_topic: "set",
      state_topic: "s",
      modes: ["eco", "boost"],
      ...topics("target_humidity"),
      ...topics("mode"),
    })
    .echo("set", "s", "ON")
    .echo("target_humidity/set", "target_humidity", "50")
    .echo("mode/set", "mode", "eco");
  return [celsius, range, heater, cooler, dryer, humidifier];
}

function others(peer: Peer): Gadget[] {
  const mapped = (gadget: Gadget, words: Readonly<Record<string, string>>) => (payload: string) => {
    const word = words[payload];
    if (word !== undefined) gadget.tell("s", word);
  };
  const basic = { command_topic: "set", state_topic: "s" };
  const lock = new Gadget(peer, "lock:door").add("lock", { ...basic, payload_open: "OPEN" });
  lock
    .on("set", mapped(lock, { LOCK: "LOCKED", UNLOCK: "UNLOCKED", OPEN: "UNLOCKED" }))
    .tell("s", "LOCKED");
  const safe = new Gadget(peer, "lock:safe").add("lock", {
    ...basic,
    code_format: "^\\d{4}$",
    command_template: "{{ value }} {{ code }}",
  });
  safe.on("set", mapped(safe, { "LOCK 1234": "LOCKED", "UNLOCK 1234": "UNLOCKED" }));
  safe.tell("s", "LOCKED");
  const alarm = new Gadget(peer, "alarm_control_panel:house").add("alarm_control_panel", {
    ...basic,
    code: "1234",
    code_trigger_required: false,
  });
  const armed = ["home", "away", "night", "vacation", "custom_bypass"].map(
    (name) => [`ARM_${name.toUpperCase()}`, `armed_${name}`] as const,
  );
  const states = { DISARM: "disarmed", ...Object.fromEntries(armed) };
  alarm.on("set", mapped(alarm, states)).tell("s", "disarmed");
  const siren = new Gadget(peer, "siren:hall").add("siren", {
    ...basic,
    available_tones: ["a", "b"],
  });
  siren.echo(
    "set",
    "s",
    JSON.stringify({ state: "ON", tone: "a", volume_level: 0.5, duration: 5 }),
  );
  const vacuum = new Gadget(peer, "vacuum:robot").add("vacuum", {
    ...basic,
    set_fan_speed_topic: "f/set",
    fan_speed_list: ["low", "high"],
    supported_features: ["start", "pause", "stop", "return_home", "locate", "fan_speed"],
  });
  let robot = { state: "docked", fan_speed: "low" };
  const become = (change: Partial<typeof robot>) => {
    robot = { ...robot, ...change };
    vacuum.tell("s", JSON.stringify(robot));
  };
  const actions = new Map([
    ["start", "cleaning"],
    ["pause", "paused"],
    ["stop", "idle"],
    ["return_to_base", "returning"],
  ]);
  vacuum
    .on("set", (command) => become({ state: actions.get(command) ?? robot.state }))
    .on("f/set", (speed) => become({ fan_speed: speed }))
    .tell("s", JSON.stringify(robot));
  const relay = new Gadget(peer, "switch:relay")
    .add("switch", basic)
    .add("number", {
      command_topic: "n/set",
      state_topic: "n",
      step: 0.5,
      unit_of_measurement: "°C",
    })
    .add("select", { command_topic: "o/set", state_topic: "o", options: ["x", "y"] })
    .add("switch", { command_topic: "c/set", state_topic: "c", entity_category: "config" })
    .add("sensor", { state_topic: "t", device_class: "temperature", unit_of_measurement: "°F" })
    .add("button", { command_topic: "restart", device_class: "restart" })
    .echo("set", "s", "OFF")
    .echo("n/set", "n", "20")
    .echo("o/set", "o", "x")
    .echo("c/set", "c", "OFF")
    .tell("t", "70");
  const mower = new Gadget(peer, "lawn_mower:mower").add("lawn_mower", {
    activity_state_topic: "s",
    start_mowing_command_topic: "start",
    pause_command_topic: "pause",
    dock_command_topic: "dock",
  });
  for (const [command, action] of [
    ["start", "mowing"],
    ["pause", "paused"],
    ["dock", "docked"],
  ] as const) {
    mower.on(command, () => mower.tell("s", action));
  }
  mower.tell("s", "docked");
  const bell = new Gadget(peer, "device:bell")
    .add("button", { command_topic: "set" })
    .on("set", () => undefined);
  return [lock, safe, alarm, siren, vacuum, relay, mower, bell];
}

/** Devices that only report. */
function reporting(peer: Peer): Gadget[] {
  const phone = new Gadget(peer, "device_tracker:phone")
    .add("device_tracker", { state_topic: "s", json_attributes_topic: "a" })
    .tell("s", "not_home")
    .tell("a", JSON.stringify({ latitude: 52.5, longitude: 13.4, gps_accuracy: 20 }));
  const camera = new Gadget(peer, "camera:yard").add("camera", { topic: "picture" });
  const window = new Gadget(peer, "device:window")
    .add("binary_sensor", { state_topic: "s", device_class: "window" })
    .tell("s", "OFF");
  const firmware = new Gadget(peer, "device:firmware")
    .add("update", { state_topic: "s", command_topic: "set", payload_install: "INSTALL" })
    .echoAs("set", "s", JSON.stringify({ installed_version: "2", latest_version: "2" }))
    .tell("s", JSON.stringify({ installed_version: "1", latest_version: "2" }));
  const ringer = new Gadget(peer, "device:ringer").add("event", {
    state_topic: "s",
    device_class: "doorbell",
    event_types: ["ring"],
  });
  const meter = new Gadget(peer, "device:meter");
  for (const [device_class, unit_of_measurement] of [
    ["water", "L"],
    ["distance", "mm"],
    ["temperature", "K"],
  ] as const) {
    meter.add("sensor", { state_topic: device_class, device_class, unit_of_measurement });
    meter.tell(device_class, "1000");
  }
  return [phone, camera, window, firmware, ringer, meter];
}
