import type { DeviceCommand, StateValue } from "../device.ts";
import {
  canTurnOn,
  type DeviceFunction,
  type DeviceSession,
  type WholeCommand,
  wordsOf,
} from "./device-session.ts";
import { isSame, type Setting, settingsOf } from "./values.ts";

/** They change other settings, so a scene has them as they are. */
const AS_IT_IS = new Set(["preset", "effect"]);

/** Captures scenes of the device with all its parts, changes everything, recalls the scenes, and compares. */
export async function checkScene(session: DeviceSession): Promise<void> {
  const functions = session.functions.filter(({ path }) => path !== "extra/");
  const movables = functions.filter((each) => movable(session, each).length > 0);
  if (movables.length === 0) return;
  await move(session, movables, 0.4);
  await recall(session, functions, movables);
  const switches = movables.filter((each) =>
    movable(session, each).some(({ name }) => name === "on"),
  );
  if (switches.length === 0) return;
  for (const each of switches) await session.confirms(each, "on", { on: false });
  await recall(session, functions, movables);
}

/** Captures the present state, changes it, and recalls it. */
async function recall(
  session: DeviceSession,
  functions: readonly DeviceFunction[],
  movables: readonly DeviceFunction[],
): Promise<void> {
  await session.bridge.settle?.(session.nativeId);
  const captured = functions.map((each) => [each, captureOf(session, each)] as const);
  await move(session, movables, 0.8);
  await session.bridge.settle?.(session.nativeId);
  try {
    await session.sendWhole(sceneOf(session, captured));
  } catch (error) {
    session.fault("", "that the bridge recalls a captured scene in one command", wordsOf(error));
    return;
  }
  for (const [{ path, capabilities }, values] of captured) {
    for (const [name, value] of Object.entries(values)) {
      const capability = capabilities[name];
      const shown = () => session.state(path)[name];
      const isBack = () => !capability || isSame(capability, value, shown());
      if (await session.eventually(isBack)) continue;
      const expected = `${JSON.stringify(value)} as captured, after the scene was recalled`;
      session.fault(`${path}${name}`, expected, JSON.stringify(shown()));
    }
  }
}

/** Sets every setting to a value at a place of its list. */
async function move(
  session: DeviceSession,
  functions: readonly DeviceFunction[],
  place: number,
): Promise<void> {
  for (const each of functions) {
    for (const { name, values } of movable(session, each)) {
      if (name.startsWith("target") && session.state(each.path)[name] === null) continue;
      const value = name === "on" || values[Math.round((values.length - 1) * place)];
      if (value !== undefined) await session.confirms(each, name, { [name]: value });
    }
  }
}

function movable(session: DeviceSession, of: DeviceFunction): Setting[] {
  const isOwn = ({ name }: Setting) =>
    !AS_IT_IS.has(name) && !session.isExcepted(`${of.path}${name}`);
  const first = ({ name }: Setting) => (name === "on" ? 0 : name === "mode" ? 1 : 2);
  return settingsOf(of)
    .filter(isOwn)
    .toSorted((a, b) => first(a) - first(b));
}

/** The settings of a function that a scene keeps, as the host captures them: of one that is off, only `on`. */
function captureOf(session: DeviceSession, of: DeviceFunction): DeviceCommand {
  const state = session.state(of.path);
  if (state["on"] === false && canTurnOn(of.capabilities)) return { on: false };
  const known = settingsOf(of).map(({ name }) => [name, state[name] ?? null] as const);
  const isKnown = (
    each: readonly [string, StateValue],
  ): each is [string, Exclude<StateValue, null>] =>
    each[1] !== null && !session.isExcepted(`${of.path}${each[0]}`);
  return Object.fromEntries(known.filter(isKnown));
}

function sceneOf(
  session: DeviceSession,
  captured: readonly (readonly [DeviceFunction, DeviceCommand])[],
): WholeCommand {
  const code = session.bridge.codes?.[session.nativeId];
  let scene: WholeCommand = { command: {}, beyond: { parts: {}, extra: {} } };
  for (const [{ capabilities, toCommand }, values] of captured) {
    if (Object.keys(values).length === 0) continue;
    const needsCode = code !== undefined && "code" in capabilities;
    const { command, beyond } = toCommand({ ...values, ...(needsCode && { code }) });
    scene = {
      command: { ...scene.command, ...command },
      beyond: { ...scene.beyond, parts: { ...scene.beyond.parts, ...beyond.parts } },
    };
  }
  return scene;
}
