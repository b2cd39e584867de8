/** A message as a broker carries it. */
export interface FakeMessage {
  readonly topic: string;
  readonly payload: string;
  readonly retain?: boolean;
}

interface Shutter {
  position: number;
  tilt: number;
}

/** The announcement of a Tasmota with two relays (firmware 14). */
export const TASMOTA_CONFIG = {
  ip: "192.168.15.10",
  dn: "Strip",
  fn: ["Lamp", "Radio", null, null, null, null, null, null],
  hn: "tasmota-49A3BC-0956",
  mac: "DC4F2249A3BC",
  md: "Sonoff Dual R3",
  ty: 0,
  if: 0,
  ofln: "Offline",
  onln: "Online",
  state: ["OFF", "ON", "TOGGLE", "HOLD"],
  sw: "14.2.0",
  t: "strip",
  ft: "%prefix%/%topic%/",
  tp: ["cmnd", "stat", "tele"],
  rl: [1, 1, 0, 0, 0, 0, 0, 0],
  swc: [-1, -1, -1, -1],
  swn: [null, null, null, null],
  btn: [0, 0, 0, 0],
  so: { 4: 0, 11: 0, 13: 0, 17: 0, 20: 0, 30: 0, 68: 0, 73: 0, 82: 0, 114: 0, 117: 0 },
  lk: 1,
  lt_st: 0,
  bat: 0,
  dslp: 0,
  sho: [] as number[],
  sht: [] as number[][],
  ver: 1,
};

/**
 * Plays a Tasmota, by its documentation and the announcements of its source: takes commands below its command topic,
 * and answers as the firmware does.
 */
export class FakeTasmota {
  readonly config: typeof TASMOTA_CONFIG;
  sensors: Readonly<Record<string, unknown>>;
  /** The beginnings of its topics. */
  readonly topics: { readonly cmnd: string; readonly stat: string; readonly tele: string };
  /** True while it takes commands without following them. */
  isStalled = false;
  readonly #send: (message: FakeMessage) => void;
  readonly #power = new Map<number, boolean>();
  readonly #values = new Map<string, number>([
    ["Dimmer", 50],
    ["CT", 300],
    ["Scheme", 0],
    ["FanSpeed", 0],
    ["White", 0],
  ]);
  readonly #hue = { hue: 100, saturation: 40 };
  readonly #shutters: Shutter[];
  readonly #missed: (() => void)[] = [];

  constructor(
    send: (message: FakeMessage) => void,
    config: Partial<Record<keyof typeof TASMOTA_CONFIG, unknown>> = {},
    sensors: Readonly<Record<string, unknown>> = {},
  ) {
    this.#send = send;
    this.config = { ...TASMOTA_CONFIG, ...(config as object) };
    this.sensors = { Time: "2026-11-23T16:00:00", ...sensors };
    const { ft, t, tp, hn, mac } = this.config;
    const fill = (prefix = "") =>
      ft
        .replace("%prefix%", prefix)
        .replace("%topic%", t)
        .replace("%hostname%", hn)
        .replace("%id%", mac);
    this.topics = { cmnd: fill(tp[0]), stat: fill(tp[1]), tele: fill(tp[2]) };
    const relays = this.config.rl.filter((each) => each === 3).length;
    this.#shutters = Array.from({ length: relays / 2 }, () => ({ position: 100, tilt: 0 }));
  }

  announce(): void {
    const { mac } = this.config;
    const at = `tasmota/discovery/${mac}`;
    this.#send({ topic: `${at}/config`, payload: JSON.stringify(this.config), retain: true });
    const sensors = JSON.stringify({ sn: this.sensors, ver: 1 });
    this.#send({ topic: `${at}/sensors`, payload: sensors, retain: true });
    this.setOnline(true);
  }

  setOnline(isOnline: boolean): void {
    const payload = isOnline ? this.config.onln : this.config.ofln;
    this.#send({ topic: `${this.topics.tele}LWT`, payload, retain: true });
  }

  /** Follows what it was told while it was stalled. */
  follow(): void {
    this.isStalled = false;
    for (const work of this.#missed.splice(0)) work();
  }

  /** The regular reports. */
  report(): void {
    this.#send({ topic: `${this.topics.tele}STATE`, payload: JSON.stringify(this.#state()) });
    this.#send({
      topic: `${this.topics.tele}SENSOR`,
      payload: JSON.stringify(this.#sensorReport()),
    });
  }

  press(name: string, action: string): void {
    this.#answer(name, { [name]: { Action: action } });
  }

  /** Takes a command; those that are not below its topic are not for it. */
  receive(topic: string, payload: string): void {
    if (!topic.startsWith(this.topics.cmnd)) return;
    const [, name = "", index = ""] =
      /^([a-z]+?|hsbcolor)(\d*)$/.exec(topic.slice(this.topics.cmnd.length).toLowerCase()) ?? [];
    if (name === "state") this.#answer("STATE", this.#state());
    else if (name === "status") {
      this.#send({
        topic: `${this.topics.stat}STATUS${payload}`,
        payload: JSON.stringify({ StatusSNS: this.#sensorReport() }),
      });
    } else if (this.isStalled) {
      this.report();
      this.#missed.push(() => this.#carryOut(name, Number(index) || 0, payload));
    } else this.#carryOut(name, Number(index) || 0, payload);
  }

  #carryOut(name: string, index: number, payload: string): void {
    const value = Number(payload);
    if (name === "power") {
      this.#power.set(index || 1, payload === this.config.state[1]);
      const topic = this.#powerName(index || 1);
      this.#send({ topic: this.topics.stat + topic, payload });
      return this.#answer(topic, { [topic]: payload });
    }
    if (name.startsWith("shutter")) return this.#moveShutter(name.slice(7), index, value);
    if (name === "hsbcolor") {
      if (index === 1) this.#hue.hue = value;
      else this.#hue.saturation = value;
      this.#values.set("White", 0);
      return this.#lit("HSBColor");
    }
    const names: Record<string, string> = {
      dimmer: "Dimmer",
      channel: "Channel",
      ct: "CT",
      scheme: "Scheme",
      fanspeed: "FanSpeed",
    };
    const key = names[name];
    if (key === undefined) return this.#answer("COMMAND", { Command: "Unknown" });
    this.#values.set(`${key}${index || ""}`, value);
    if (key === "CT") this.#values.set("White", 50);
    if (key === "FanSpeed") return this.#answer(key, { FanSpeed: value });
    return this.#lit(`${key}${index || ""}`, index);
  }

  /** A command for colour or brightness turns the light on. */
  #lit(command: string, index = 0): void {
    const first = this.config.rl.indexOf(2) + 1;
    const isOwn = this.config.so[68] || (index > 0 && !this.config.lk);
    const output = this.config.so[68] ? index : isOwn && index === 2 ? first + 1 : first;
    this.#power.set(output, true);
    this.#answer(command, this.#state());
  }

  #moveShutter(command: string, index: number, value: number): void {
    const shutter = this.#shutters[index - 1];
    if (!shutter) return;
    if (command === "tilt") shutter.tilt = value;
    else if (command !== "stop") {
      const target = { open: 100, close: 0 }[command] ?? value;
      const direction = Math.sign(target - shutter.position);
      this.#answer(`SHUTTER${index}`, this.#shutterReport(index, direction));
      shutter.position = target;
    }
    this.#answer(`SHUTTER${index}`, this.#shutterReport(index, 0));
  }

  #shutterReport(index: number, direction: number): object {
    const { position = 0, tilt = 0 } = this.#shutters[index - 1] ?? {};
    const shown = { Position: position, Direction: direction, Target: position, Tilt: tilt };
    return { [`Shutter${index}`]: shown };
  }

  /** One output has no number. */
  #powerName(index: number): string {
    const outputs = this.config.rl.filter((each) => each > 0).length;
    return outputs === 1 ? "POWER" : `POWER${index}`;
  }

  #state(): Record<string, unknown> {
    const { rl, lt_st: channels, so } = this.config;
    const powers = rl.flatMap((kind, at) =>
      kind === 1 || kind === 2
        ? [[this.#powerName(at + 1), this.config.state[this.#power.get(at + 1) ? 1 : 0]]]
        : [],
    );
    const { hue, saturation } = this.#hue;
    const light = channels > 0 || so[68] ? Object.fromEntries(this.#values) : {};
    return {
      Time: "2026-11-23T16:00:00",
      ...Object.fromEntries(powers),
      ...light,
      ...(channels >= 3 ? { HSBColor: `${hue},${saturation},50` } : {}),
      ...(this.config.if ? { FanSpeed: this.#values.get("FanSpeed") } : {}),
      Wifi: { AP: 1, RSSI: 80, Signal: -60 },
    };
  }

  #sensorReport(): object {
    const shutters = this.#shutters.map((_, at) => this.#shutterReport(at + 1, 0));
    return Object.assign({}, this.sensors, ...shutters);
  }

  /** Answers on one topic for all commands, or with SetOption4 on that of the command. */
  #answer(command: string, told: object): void {
    const topic = this.config.so[4] ? command.toUpperCase() : "RESULT";
    this.#send({ topic: this.topics.stat + topic, payload: JSON.stringify(told) });
  }
}
