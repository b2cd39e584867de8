import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { DeviceCommand, DeviceState, StateValue } from "../device.ts";
import { canTurnOn, type DeviceFunction, type DeviceSession } from "./device-session.ts";
import { isSame, type Setting, settingsOf } from "./values.ts";

/** Settings that are reached some time after a command is confirmed, because the device moves. */
const TRAVELS = new Set(["position", "tilt"]);
/** Where a command leads in the end. */
const ENDS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  open: { position: 100 },
  close: { position: 0 },
};
/** A command that touches another part may do it a little later. */
const LATER_MS = 20;
const LOW = "targetTemperatureLow";
const HIGH = "targetTemperatureHigh";

/** Sets each level and value of a device, sends each of its commands, and looks that the rest stays as it is. */
export async function checkRoundTrips(session: DeviceSession): Promise<void> {
  for (const { path } of session.functions) {
    const of = () => functionAt(session, path);
    await checkCommands(session, of);
    const hasSwitch = settingsOf(of()).some(({ name }) => name === "on");
    if (hasSwitch && !session.isExcepted(`${path}on`)) {
      await session.confirms(of(), "on", { on: true });
    }
    const checked = new Set<string>();
    await checkSettings(session, of, checked);
    for (const mode of modesOf(of())) {
      if (session.isExcepted(`${path}mode`)) break;
      if (!(await session.confirms(of(), "mode", { mode }))) continue;
      await checkSettings(session, of, checked); // a target may be known in one mode only
    }
  }
}

function functionAt(session: DeviceSession, path: string): DeviceFunction {
  const found = session.functions.find((each) => each.path === path);
  if (found) return found;
  throw new Error(`${session.nativeId} does not have ${path} any more`);
}

type Get = () => DeviceFunction;

async function checkSettings(session: DeviceSession, of: Get, checked: Set<string>): Promise<void> {
  for (const setting of settingsOf(of())) {
    const capability = `${of().path}${setting.name}`;
    if (checked.has(capability) || session.isExcepted(capability)) continue;
    const isTarget = setting.name.startsWith("target");
    if (isTarget && of().state[setting.name] === null) continue;
    checked.add(capability);
    const initial = of().state[setting.name];
    await checkValues(session, of, setting);
    if (setting.name === "mode" && initial !== null && initial !== undefined) {
      await session.confirms(of(), "mode", { mode: initial });
    } else if (setting.name === "on") await session.confirms(of(), "on", { on: true });
  }
}

async function checkValues(session: DeviceSession, of: Get, setting: Setting): Promise<void> {
  const { name, values } = setting;
  const { path, kind } = of();
  const others = othersOf(session, path);
  for (const value of values) {
    if (!(await session.confirms(of(), name, commandFor(of(), name, value)))) break;
    const isDone = () => shows(of(), setting, value);
    const isSlow = TRAVELS.has(name) || kind === "group";
    if (!isDone() && !(isSlow && (await session.eventually(isDone)))) {
      const when = isSlow ? "in the end" : "when the command is confirmed";
      const expected = `${JSON.stringify(value)} ${when}`;
      if (!session.fault(`${path}${name}`, expected, JSON.stringify(of().state[name]))) break;
    }
    if (!checkOthers(session, `${path}${name}`, others)) break;
  }
  await checkOthersLater(session, `${path}${name}`, others);
}

/** A value with those that it needs beside it. */
function commandFor(
  { capabilities }: DeviceFunction,
  name: string,
  value: Exclude<StateValue, null>,
): DeviceCommand {
  const low = capabilities[LOW];
  const high = capabilities[HIGH];
  if (name === LOW && high?.type === "number") return { [name]: value, [HIGH]: high.max ?? value };
  if (name === HIGH && low?.type === "number") return { [LOW]: low.min ?? value, [name]: value };
  return { [name]: value };
}

/** True if the state has the value. A brightness or speed of 0 turns off, and the level may stay. */
function shows(
  { capabilities, state }: DeviceFunction,
  { name, capability }: Setting,
  value: StateValue,
): boolean {
  const turnsOff = value === 0 && (name === "brightness" || name === "speed");
  if (turnsOff && canTurnOn(capabilities) && state["on"] === false) return true;
  return isSame(capability, value, state[name]);
}

/** The settings of the other functions. Extras may follow from what the device does. */
function othersOf(session: DeviceSession, path: string): Map<string, DeviceState> {
  const others = session.functions.filter((each) => each.path !== path && each.path !== "extra/");
  return new Map(
    path === "extra/" ? [] : others.map((each) => [each.path, settingStateOf(each)] as const),
  );
}

function settingStateOf(of: DeviceFunction): DeviceState {
  return Object.fromEntries(settingsOf(of).map(({ name }) => [name, of.state[name] ?? null]));
}

/** Returns true if the other functions are as before. */
function checkOthers(
  session: DeviceSession,
  capability: string,
  before: ReadonlyMap<string, DeviceState>,
): boolean {
  for (const each of session.functions.filter(({ path }) => before.has(path))) {
    const known = before.get(each.path);
    const now = settingStateOf(each);
    if (isDeepStrictEqual(known, now)) continue;
    const where = each.path === "" ? "the device itself" : each.path.slice(0, -1);
    const expected = `that the command does not touch ${where}, which was ${JSON.stringify(known)}`;
    session.fault(capability, expected, JSON.stringify(now));
    return false;
  }
  return true;
}

async function checkOthersLater(
  session: DeviceSession,
  capability: string,
  before: ReadonlyMap<string, DeviceState>,
): Promise<void> {
  if (before.size === 0 || !checkOthers(session, capability, before)) return;
  await session.bridge.settle?.(session.nativeId);
  await delay(LATER_MS);
  checkOthers(session, capability, before);
}

async function checkCommands(session: DeviceSession, of: Get): Promise<void> {
  for (const [name, capability] of Object.entries(of().capabilities)) {
    const path = `${of().path}${name}`;
    if (capability.type !== "command" || session.isExcepted(path)) continue;
    const others = othersOf(session, of().path);
    if (!(await session.confirms(of(), name, { [name]: true }))) continue;
    await checkOthersLater(session, path, others);
    for (const [field, end] of Object.entries(ENDS[name] ?? {})) {
      if (!(field in of().capabilities)) continue;
      if (await session.eventually(() => of().state[field] === end)) continue;
      session.fault(path, `that ${field} is ${end} in the end`, JSON.stringify(of().state[field]));
    }
  }
}

function modesOf({ capabilities }: DeviceFunction): readonly string[] {
  const mode = capabilities["mode"];
  const hasTargets = Object.keys(capabilities).some((name) => name.startsWith("target"));
  return hasTargets && mode?.type === "choice" && mode.readOnly !== true ? mode.values : [];
}
