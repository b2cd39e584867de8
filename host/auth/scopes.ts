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
