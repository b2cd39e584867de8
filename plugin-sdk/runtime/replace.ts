type Method = (...args: unknown[]) => unknown;

/** Replaces a method of Node and copies the original's properties. */
export function replace<N extends string>(
  owner: { [K in N]: unknown },
  name: N,
  by: (original: Method) => Method,
): void {
  const original = owner[name] as Method;
  const replacement = by(original);
  Object.defineProperties(replacement, Object.getOwnPropertyDescriptors(original));
  Object.defineProperty(owner, name, { value: replacement });
}
