import { Type } from "typebox";

/** The scopes of tokens. Each scope includes all that come before it. */
export const SCOPES = ["read", "control", "edit", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

export function isScope(value: unknown): value is Scope {
  return SCOPES.some((scope) => scope === value);
}

/** True if one of the held scopes is the needed one or includes it. */
export function permits(granted: readonly Scope[], needed: Scope): boolean {
  return granted.some((scope) => SCOPES.indexOf(scope) >= SCOPES.indexOf(needed));
}

/** Places in the API where a token may only read, whatever its scope is. */
export const ReadOnlyPaths = Type.Array(
  Type.String({ maxLength: 100, pattern: "^[a-z0-9-]+(?:/[a-z0-9-]+)*$" }),
  {
    maxItems: 20,
    description:
      "places in the API, such as smart-home/scenes, at and below which the token may only read. Commands to devices are at smart-home/devices, smart-home/commands and rooms",
  },
);

/** True if the path of a route, such as `/layout/restore/:revision`, is at or below one of these places. */
export function isBelow(path: string, places: readonly string[]): boolean {
  return places.some((place) => path === `/${place}` || path.startsWith(`/${place}/`));
}
