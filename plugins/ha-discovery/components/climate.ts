import type { Capability, DeviceKind } from "@mantel/plugin-sdk";
import { climateKind } from "@mantel/plugin-sdk/vocabulary";
import {
  type Input,
  inputs,
  type CreateHandler,
  numberField,
  textField,
} from "../component-handler.ts";
import type { Options } from "../options.ts";
import {
  choice,
  numberOf,
  PERCENT_READING,
  present,
  reported,
  SWITCH,
  unitOf,
} from "./capabilities.ts";
import { unreportedOf } from "./fan.ts";
import { messagesOf } from "./simple.ts";

const MODES = ["auto", "off", "cool", "heat", "dry", "fan_only"];

const ACTIONS = ["off", "idle", "heating", "cooling", "drying", "fan", "preheating", "defrosting"];

/** The vocabulary writes words with a hyphen where Home Assistant has an underscore. */
const WORDS = ["heat_cool", "fan_only", "heat_pump", "high_demand"] as const;

const toOurWord = (text: string): string =>
  WORDS.some((word) => word === text) ? text.replace("_", "-") : text;
const toTheirWord = (text: string): string =>
  WORDS.find((word) => word === text.replace("-", "_")) ?? text;

/** The choices of a thermostat or an air conditioner: the Mantel field, the Home Assistant name, and the default list. */
const CHOICES = [
  { field: "mode", name: "mode", list: "modes", absent: MODES, template: "mode_state_template" },
  {
    field: "fanMode",
    name: "fan_mode",
    list: "fan_modes",
    absent: ["auto", "low", "medium", "high"],
    template: "fan_mode_state_template",
  },
  {
    field: "swing",
    name: "swing_mode",
    list: "swing_modes",
    absent: ["on", "off"],
    template: "swing_mode_state_template",
  },
  {
    field: "swingHorizontal",
    name: "swing_horizontal_mode",
    list: "swing_horizontal_modes",
    absent: ["on", "off"],
    template: "swing_horizontal_mode_state_template",
  },
  {
    field: "preset",
    name: "preset_mode",
    list: "preset_modes",
    absent: [],
    template: "preset_mode_value_template",
  },
] as const;

/** Temperatures that can be set: their field here and their name there. */
const TARGETS = [
  ["targetTemperature", "temperature"],
  ["targetTemperatureHigh", "temperature_high"],
  ["targetTemperatureLow", "temperature_low"],
] as const;

type Writers = Record<
  string,
  (value: never) => ReturnType<NonNullable<ReturnType<Options["writer"]>>> | undefined
>;

/** The differences between kinds of devices that keep a temperature. */
interface Sort {
  /** The kind of a device with these modes. */
  readonly kindOf: (modes: readonly string[]) => DeviceKind;
  readonly choices: readonly Choice[];
  /** The default range by unit. */
  readonly range: Readonly<Record<"C" | "F", readonly [min: number, max: number]>>;
}

type Choice = {
  readonly [K in keyof (typeof CHOICES)[number]]: K extends "absent" ? readonly string[] : string;
};

const create =
  ({ kindOf, choices: offered, range }: Sort): CreateHandler =>
  (options) => {
    const parts = [
      choices(options, offered),
      targets(options, range),
      humidity(options),
      power(options),
    ];
    const writers: Writers = Object.assign({}, ...parts.map((part) => part.writers));
    const capabilities: Record<string, Capability> = Object.assign(
      {},
      ...parts.map((part) => part.capabilities),
      measured(options),
    );
    const { mode: modes } = capabilities;
    return {
      leads: kindOf(modes?.type === "choice" ? modes.values : []),
      capabilities,
      inputs: [...parts.flatMap((part) => part.inputs), ...measurements(options)],
      write: (command) => messagesOf(command, writers),
      unreported: unreportedOf(options, Object.assign({}, ...parts.map((part) => part.topics))),
    };
  };

export const climate = create({
  kindOf: climateKind,
  choices: CHOICES,
  range: { C: [7, 35], F: [44.6, 95] },
});

export const waterHeater = create({
  kindOf: () => "water-heater",
  choices: [
    {
      ...CHOICES[0],
      absent: ["off", "eco", "electric", "gas", "heat_pump", "high_demand", "performance"],
    },
  ],
  range: { C: [43.3, 60], F: [110, 140] },
});

const mode = textField("mode");
const action = textField("action");

function choices(options: Options, offered: readonly Choice[]) {
  const there = offered.filter(({ name }) =>
    ["command", "state"].some((end) => options.topic(`${name}_${end}_topic`) !== undefined),
  );
  const writers: Writers = {};
  for (const { field, name } of there) {
    const write = options.writer(`${name}_command_topic`, `${name}_command_template`);
    const inTheirs = field === "mode" ? toTheirWord : (value: string) => value;
    if (write) writers[field] = (value: string) => write(inTheirs(value));
  }
  return {
    writers,
    capabilities: present(
      there.map(({ field, list, absent }) => {
        const values = options.texts(list) ?? absent;
        const ours = field === "mode" ? values.map(toOurWord) : values;
        const capability = choice(field === "preset" ? ["none", ...ours] : ours);
        return [
          field,
          capability && { ...capability, ...(writers[field] ? {} : { readOnly: true }) },
        ];
      }),
    ),
    inputs: there.flatMap(({ field, name, template }) =>
      inputs(
        options,
        [`${name}_state_topic`, template],
        field === "mode" ? (text) => mode(toOurWord(text)) : textField(field),
      ),
    ),
    topics: Object.fromEntries(there.map(({ field, name }) => [field, `${name}_state_topic`])),
  };
}

function targets(options: Options, range: Sort["range"]) {
  const unit = temperatureUnit(options);
  const there = TARGETS.filter(([, name]) => options.topic(`${name}_command_topic`) !== undefined);
  const [min, max] = range[options.text("temperature_unit", "C") === "F" ? "F" : "C"];
  const bounds = {
    min: unit.toOurs(options.number("min_temp", min)),
    max: unit.toOurs(options.number("max_temp", max)),
    step: options.number("temp_step", 1),
  };
  const writers: Writers = {};
  for (const [field, name] of there) {
    const write = options.writer(`${name}_command_topic`, `${name}_command_template`);
    if (write) writers[field] = (value: number) => write(unit.toTheirs(value));
  }
  return {
    writers,
    capabilities: present(there.map(([field]) => [field, numberOf(unit, bounds)])),
    inputs: there.flatMap(([field, name]) =>
      inputs(
        options,
        [`${name}_state_topic`, `${name}_state_template`],
        numberField(field, unit.toOurs),
      ),
    ),
    topics: Object.fromEntries(there.map(([field, name]) => [field, `${name}_state_topic`])),
  };
}

function temperatureUnit(options: Options) {
  const fallback = new Map([["unit", options.text("temperature_unit", "C")]]);
  return unitOf(options.with(fallback), "unit");
}

function humidity(options: Options) {
  const write = options.writer("target_humidity_command_topic", "target_humidity_command_template");
  const bounds = {
    min: options.number("min_humidity", 30),
    max: options.number("max_humidity", 99),
  };
  const field = "targetHumidity";
  const writers: Writers = write ? { [field]: (value: number) => write(value) } : {};
  return {
    writers,
    capabilities: present([[field, write && { type: "number", unit: "%", step: 1, ...bounds }]]),
    inputs: write
      ? inputs(
          options,
          ["target_humidity_state_topic", "target_humidity_state_template"],
          numberField(field),
        )
      : [],
    topics: write ? { [field]: "target_humidity_state_topic" } : {},
  };
}

/** Some are switched on and off apart from their mode; nothing tells whether they are on. */
function power(options: Options) {
  const write = options.writer("power_command_topic", "power_command_template");
  const [on, off] = [options.text("payload_on", "ON"), options.text("payload_off", "OFF")];
  const writers: Writers = write ? { on: (value: boolean) => write(value ? on : off) } : {};
  return {
    writers,
    capabilities: present([["on", write && SWITCH]]),
    inputs: [],
    topics: write ? { on: "power_state_topic" } : {},
  };
}

function measured(options: Options) {
  const has = (name: string) => options.topic(name) !== undefined;
  const unit = temperatureUnit(options);
  return present([
    [
      "temperature",
      has("current_temperature_topic") ? { ...numberOf(unit), readOnly: true } : undefined,
    ],
    ["humidity", has("current_humidity_topic") ? PERCENT_READING : undefined],
    ["action", has("action_topic") ? reported(ACTIONS) : undefined],
  ]);
}

function measurements(options: Options): Input[] {
  const { toOurs } = temperatureUnit(options);
  return [
    ...inputs(
      options,
      ["current_temperature_topic", "current_temperature_template"],
      numberField("temperature", toOurs),
    ),
    ...inputs(
      options,
      ["current_humidity_topic", "current_humidity_template"],
      numberField("humidity"),
    ),
    ...inputs(options, ["action_topic", "action_template"], action),
  ];
}
