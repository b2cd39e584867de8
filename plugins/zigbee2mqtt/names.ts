/** `level_config on_level` as `levelConfigOnLevel`. */
export function camelCase(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter(Boolean);
  const joined = words
    .map((word, at) => (at === 0 ? word[0]?.toLowerCase() : word[0]?.toUpperCase()) + word.slice(1))
    .join("");
  return (/^[a-z]/.test(joined) ? joined : `v${joined}`).slice(0, 64);
}

/** The id of the part at an endpoint: `bottom_left` is `bottom-left`, and `1` is `l1`. */
export function partIdOf(endpoint: string): string {
  const words = endpoint
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
  const joined = words.join("-");
  return (/^[a-z]/.test(joined) ? joined : `l${joined}`).slice(0, 40).replace(/-$/, "");
}

/** The first of `name`, `name2`, `name3` and so on that is not taken. */
export function freeName(name: string, isTaken: (name: string) => boolean): string {
  let free = name;
  for (let at = 2; isTaken(free); at++) free = `${name.slice(0, 60)}${at}`;
  return free;
}
