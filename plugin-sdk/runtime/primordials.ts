// Built-in functions, saved before any plugin code runs. Code that checks permissions or ends the process calls
// these, because a plugin can replace every method of every prototype. Such code also avoids syntax and methods
// that call replaceable methods: spread and `for … of` (iterators), and `RegExp.prototype.test` and
// `String.prototype.replace` (`exec`).
import { writeSync } from "node:fs";
import net from "node:net";

type Family = "ipv4" | "ipv6";
type Method = (...args: never[]) => unknown;

/** Calls a method without `method.apply`, which a plugin can replace. */
export const apply: (method: Method, self: unknown, args: readonly unknown[]) => unknown =
  Reflect.get(Reflect, "apply");
export const construct = Reflect.get(Reflect, "construct") as (
  type: Method | (new (...args: never[]) => object),
  args: readonly unknown[],
  newTarget?: unknown,
) => object;
export const { assign, create, defineProperty, freeze, keys, values } = Object;
export const { isArray } = Array;
export const { isIP, isIPv6 } = net;
export const { parse: parseJson } = JSON;
export const toNumber = Number;
export const toText = String;
export const writeNow = writeSync;

/** Sends a signal without `process.kill`. Returns 0 or the negative error number. */
export const sendSignal: (pid: number, signal: number) => number = Reflect.get(process, "_kill");
export const exitAtOnce: (code: number) => never = Reflect.get(process, "reallyExit");
export const startInterval = setInterval;
export const inNextTurn = setImmediate;

const exec = taken(RegExp.prototype, "exec");
const startsWith = taken(String.prototype, "startsWith");
const endsWith = taken(String.prototype, "endsWith");
const indexOf = taken(String.prototype, "indexOf");
const slice = taken(String.prototype, "slice");
const toLowerCase = taken(String.prototype, "toLowerCase");
const NodeUrl = URL;
const canParse = taken(NodeUrl, "canParse");
const hostname = taken(Object.getOwnPropertyDescriptor(NodeUrl.prototype, "hostname") ?? {}, "get");

export const matches = (pattern: RegExp, text: string): boolean =>
  apply(exec, pattern, [text]) !== null;
export const begins = (text: string, part: string): boolean =>
  apply(startsWith, text, [part]) === true;
export const ends = (text: string, part: string): boolean => apply(endsWith, text, [part]) === true;
/** The index of a part, or -1. */
export const placeOf = (text: string, part: string): number =>
  apply(indexOf, text, [part]) as number;
export const partOf = (text: string, from: number, to?: number): string =>
  apply(slice, text, [from, to]) as string;
export const inLowerCase = (text: string): string => apply(toLowerCase, text, []) as string;
/**
 * A function that tells whether one of the subnets contains an address. Call `within` before plugin code runs, which can
 * replace `BlockList`.
 */
export function within(
  subnets: readonly (readonly [net: string, bits: number, family: Family])[],
): (address: string, family: Family) => boolean {
  const list = new net.BlockList();
  for (const [address, bits, family] of subnets) list.addSubnet(address, bits, family);
  const check = taken(list, "check");
  return (address, family) => apply(check, list, [address, family]) === true;
}
/** The host of a URL such as `mqtt://nas:1883`; `undefined` for an invalid URL. */
export const hostOf = (address: string): string | undefined =>
  apply(canParse, NodeUrl, [address]) === true
    ? (apply(hostname, new NodeUrl(address), []) as string)
    : undefined;

function taken(owner: object, name: string): Method {
  return Reflect.get(owner, name) as Method;
}
