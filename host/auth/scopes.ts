/** What a token may permit. Each scope permits all that the ones before it do. */
export const SCOPES = ["read", "control", "edit", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

export function isScope(value: unknown): value is Scope {
  return SCOPES.some((scope) => scope === value);
}

/** True when one of the held scopes is the needed one or stands above it. */
export function permits(held: readonly Scope[], needed: Scope): boolean {
  return held.some((scope) => SCOPES.indexOf(scope) >= SCOPES.indexOf(needed));
}
