import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { DeviceCommand, DeviceState, StateValue } from "../device.ts";
import { checkCommands } from "./commands.ts";
import type { DeviceFunction } from "./device-function.ts";
import { canTurnOn, type DeviceSession } from "./device-session.ts";
import { isSame, type Setting } from "./values.ts";

/** Settings that are reached some time after a command is confirmed, because the device moves. */
const TRAVELS = new Set(["position", "tilt"]);
/** A command that touches another part may do it a little later. */
const LATER_MS = 20;
const LOW = "targetTemperatureLow";
const HIGH = "targetTemperatureHigh";

/** Sets each level and value of a device, sends each of its commands, and looks that the rest stays as it is. */
export async function checkRoundTrips(session: DeviceSession): Promise<void> {
  for (const { path } of session.functions) {
    const of = () => functionAt(session, path);
    await checkCommands(session, of, async (name, send) => {
      const others = othersOf(session, path);
      if (!(await send())) return false;
      await checkOthersLater(session, `${path}${name}`, others);
      return true;
    });
    if (session.settingsOf(of()).some(({ name }) => name === "on")) {
      await session.confirms(of(), "on", { on: true });
    }
    const checked = new Set<string>();
    await checkSettings(session, of, checked);
    for (const mode of modesOf(session, of())) {
      if (!(await session.confirms(of(), "mode", { mode }))) continue;
      await checkSettings(session, of, checked); // a target may be known in one mode only
    }
    for (const { name } of session.settingsOf(of())) {
      if (checked.has(name)) continue;
      const expected = "a value in at least one mode";
      session.fault(`${path}${name}`, expected, "it is unknown in each of them");
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
  for (const setting of session.settingsOf(of())) {
    const { name } = setting;
    if (checked.has(name)) continue;
    const initial = of().state[name];
    if (name.startsWith("target") && initial === null) continue;
    checked.add(name);
    if (session.isExplained("untold", `${of().path}${name}`))
      await sendValues(session, of, setting);
    else await checkValues(session, of, setting);
    if (name === "mode" && initial !== null && initial !== undefined) {
      await session.confirms(of(), "mode", { mode: initial });
    } else if (name === "on") await session.confirms(of(), "on", { on: true });
  }
}

/** Sends the values of a setting that is never reported. */
async function sendValues(session: DeviceSession, of: Get, setting: Setting): Promise<void> {
  const { name, values } = setting;
  for (const value of values) {
    if (!(await session.confirms(of(), name, commandFor(of(), name, value)))) return;
  }
  session.note(of(), name, "sent");
}

async function checkValues(session: DeviceSession, of: Get, setting: Setting): Promise<void> {
  const { name, values } = setting;
  const { path, kind } = of();
  const others = othersOf(session, path);
  let isWhole = true;
  for (const value of values) {
    isWhole = await session.confirms(of(), name, commandFor(of(), name, value));
    if (!isWhole) break;
    const isDone = () => shows(of(), setting, value);
    const isSlow = TRAVELS.has(name) || kind === "group";
    if (!isDone() && !(isSlow && (await session.eventually(isDone)))) {
      const when = isSlow ? "in the end" : "when the command is confirmed";
      const expected = `${JSON.stringify(value)} ${when}`;
      if (!session.fault(`${path}${name}`, expected, JSON.stringify(of().state[name]))) break;
    }
    if (!checkOthers(session, `${path}${name}`, others)) break;
  }
  if (isWhole) session.note(of(), name, "set");
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
    path === "extra/"
      ? []
      : others.map((each) => [each.path, settingStateOf(session, each)] as const),
  );
}

function settingStateOf(session: DeviceSession, of: DeviceFunction): DeviceState {
  const settings = session.settingsOf(of);
  return Object.fromEntries(settings.map(({ name }) => [name, of.state[name] ?? null]));
}

/** Returns true if the other functions are as before. */
function checkOthers(
  session: DeviceSession,
  capability: string,
  before: ReadonlyMap<string, DeviceState>,
): boolean {
  for (const each of session.functions.filter(({ path }) => before.has(path))) {
    const known = before.get(each.path);
    const now = settingStateOf(session, each);
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

/** The modes in which a device has targets. */
function modesOf(session: DeviceSession, of: DeviceFunction): readonly string[] {
  const mode = session.settingsOf(of).find(({ name }) => name === "mode");
  const hasTargets = Object.keys(of.capabilities).some((name) => name.startsWith("target"));
  return hasTargets && mode?.capability.type === "choice" ? mode.capability.values : [];
}
