import type { Expose } from "./exposes.ts";

/** Names that Mantel has for what Zigbee2MQTT calls otherwise, by the kind of thing it belongs to. */
const WELL_KNOWN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  light: { state: "on", color_temp: "colorTemperature", color_xy: "color", color_hs: "color" },
  switch: { state: "on" },
  fan: { state: "on" },
  lock: { state: "locked" },
  climate: {
    local_temperature: "temperature",
    occupied_heating_setpoint: "targetTemperature",
    current_heating_setpoint: "targetTemperature",
    system_mode: "mode",
  },
  "": { occupancy: "motion", action: "lastAction" },
};

/** Names that clients take for what Mantel means by them, and that a device may mean otherwise. */
const RESERVED = new Set(["on", "color", "locked"]);

/**
 * The name of a capability: the one that Mantel has for it, else its property in camelCase. Of
 * several that are alike, each has its endpoint in the name: `onLeft`, `onRight`.
 */
export function nameOf(
  { name, property, endpoint = "" }: Expose,
  { type, path }: { readonly type: string; readonly path: readonly string[] },
): string {
  const table = WELL_KNOWN[type] ?? {};
  if (path.length === 0 && Object.hasOwn(table, name))
    return camelCase(`${table[name]} ${endpoint}`);
  const plain = camelCase([...path, property].join(" "));
  return RESERVED.has(plain) ? camelCase(`${plain} value`) : plain;
}

function camelCase(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter(Boolean);
  const joined = words
    .map((word, at) => (at === 0 ? word[0]?.toLowerCase() : word[0]?.toUpperCase()) + word.slice(1))
    .join("");
  return (/^[a-z]/.test(joined) ? joined : `v${joined}`).slice(0, 64);
}
