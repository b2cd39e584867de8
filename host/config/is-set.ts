/** True if the config has a value at a key such as `home.latitude`. */
export function isSet(config: unknown, dottedKey: string): boolean {
  let value: unknown = config;
  for (const key of dottedKey.split(".")) {
    value =
      typeof value === "object" && value !== null
        ? (value as Record<string, unknown>)[key]
        : undefined;
  }
  return value !== undefined && value !== null;
}
