/**
 * The kind of a device that keeps a temperature, by its modes in the words of the vocabulary. Air conditioners cool and
 * dry; a thermostat may cool or run a fan as well.
 */
export function climateKind(modes: readonly string[]): "thermostat" | "air-conditioner" {
  return modes.includes("cool") && modes.includes("dry") ? "air-conditioner" : "thermostat";
}
