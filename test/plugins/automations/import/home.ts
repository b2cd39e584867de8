import { type Converted, convertFiles } from "../../../../plugins/automations/import/convert.ts";
import type { ImportDevice, ImportHome } from "../../../../plugins/automations/import/entities.ts";
import { Entities } from "../../../../plugins/automations/import/entities.ts";
import { readYaml } from "../../../../plugins/automations/import/read-yaml.ts";

const on = { type: "boolean" } as const;
const fact = { type: "boolean", readOnly: true } as const;
const percent = { type: "number", min: 0, max: 100, unit: "%" } as const;
const celsius = { type: "number", unit: "°C" } as const;
const press = { type: "command" } as const;

function device(
  id: string,
  name: string,
  capabilities: ImportDevice["capabilities"],
  room: string | null = null,
): ImportDevice {
  const [bridgeKind = "", kind = ""] = id.split(":");
  return { id, name, room, kind: kind as ImportDevice["kind"], bridgeKind, capabilities };
}

/** A home with a device of each kind that imports name. */
const HOME: ImportHome = {
  devices: [
    device("ha:light:1", "Porch", {
      on,
      brightness: percent,
      colorTemperature: { type: "number", min: 2_000, max: 6_500, unit: "K" },
      color: { type: "color" },
    }),
    device("ha:light:2", "Desk", { on }, "Study"),
    device("hue:light:3", "Ceiling", { on, brightness: percent }, "Study"),
    device("ha:switch:1", "Holiday", { on }),
    device("ha:plug:1", "Pump", { on, power: { type: "number", unit: "W" } }),
    device("z2m:binary-sensor:1", "Larder door", { contact: fact, battery: percent }),
    device("z2m:binary-sensor:2", "Stairs motion", { motion: fact }),
    device("z2m:sensor:1", "Cellar", { temperature: celsius, humidity: percent }),
    device("ha:sensor:2", "Wash phase", { value: { type: "text", readOnly: true } }),
    device("ha:cover:1", "Awning", {
      ...{ position: percent, open: press, close: press, stop: press },
      action: { type: "choice", values: ["opening", "closing", "stopped"] },
    }),
    device("ha:thermostat:1", "Loft", {
      targetTemperature: celsius,
      temperature: celsius,
      mode: { type: "choice", values: ["off", "heat", "heat-cool"] },
    }),
    device("ha:lock:1", "Shed", { locked: on }),
    device("ha:fan:1", "Attic fan", { on, speed: percent }),
    device("ha:media-player:1", "Radio", {
      ...{ on, volume: percent, next: press },
      playback: { type: "choice", values: ["playing", "paused", "stopped"] },
    }),
    device("ha:vacuum:1", "Robbie", {
      ...{ start: press, dock: press },
      action: { type: "choice", values: ["cleaning", "docked"], readOnly: true },
    }),
    device("ha:tracker:1", "Ada", { home: fact, zone: { type: "text", readOnly: true } }),
    device("z2m:button:1", "Remote", {
      lastAction: { type: "choice", values: ["single", "double", "on"], readOnly: true },
    }),
  ],
  scenes: [{ id: "ha:scene:1", name: "Film night" }],
  calendars: [{ id: "home-assistant:calendar.bins", name: "Bins" }],
};

/** The conversion of files for the home. */
export async function converted(
  yaml: string | readonly string[],
  devices: Readonly<Record<string, string>> = {},
): Promise<Converted[]> {
  const files = [];
  for (const text of [yaml].flat()) files.push(await readYaml(text));
  return convertFiles(files, new Entities(HOME, devices));
}
