import type { CommandBody, DeviceCommand, ExtraCapability } from "../device.ts";
import { capturedCommand } from "../scene-capture.ts";
import type { DeviceFunction, WholeCommand } from "./device-function.ts";
import { type DeviceSession, wordsOf } from "./device-session.ts";
import { isSame, type Setting } from "./values.ts";

/** They change other settings, so a scene has them as they are. */
const AS_IT_IS = new Set(["preset", "effect"]);

/** Captures scenes of the device with all its parts, changes everything, recalls the scenes, and compares. */
export async function checkScene(session: DeviceSession): Promise<void> {
  const movables = session.functions.filter((each) => movable(session, each).length > 0);
  if (movables.length === 0) return;
  await move(session, movables, 0.4);
  await recall(session, movables);
  const switches = movables.filter((each) =>
    movable(session, each).some(({ name }) => name === "on"),
  );
  if (switches.length === 0) return;
  for (const each of switches) await session.confirms(each, "on", { on: false });
  await recall(session, movables);
}

/** Captures the present state, changes it, and recalls it. */
async function recall(session: DeviceSession, movables: readonly DeviceFunction[]): Promise<void> {
  await session.bridge.settle?.(session.nativeId);
  const captured = sectionsOf(capturedCommand(session.device));
  if ([...captured.values()].every((values) => Object.keys(values).length === 0)) return;
  await move(session, movables, 0.8);
  await session.bridge.settle?.(session.nativeId);
  try {
    await session.sendWhole(sceneOf(session, captured));
  } catch (error) {
    session.fault("", "that the bridge recalls a captured scene in one command", wordsOf(error));
    return;
  }
  for (const { path, capabilities } of session.functions) {
    for (const [name, value] of Object.entries(captured.get(path) ?? {})) {
      const capability = capabilities[name];
      if (!capability || session.isExplained("except", `${path}${name}`)) continue;
      const shown = () => session.state(path)[name];
      if (await session.eventually(() => isSame(capability, value, shown()))) continue;
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
  const first = ({ name }: Setting) => (name === "on" ? 0 : name === "mode" ? 1 : 2);
  return session
    .settingsOf(of)
    .filter(
      ({ name, capability }) =>
        !AS_IT_IS.has(name) &&
        !session.isExplained("untold", `${of.path}${name}`) &&
        (of.path !== "extra/" || (capability as ExtraCapability).group === "main"),
    )
    .toSorted((a, b) => first(a) - first(b));
}

/** The values of a captured scene by the path of their function. */
function sectionsOf({ parts = {}, extra = {}, ...own }: CommandBody): Map<string, DeviceCommand> {
  const ofParts = Object.entries(parts).map(
    ([id, values]) => [`parts/${id}/`, values as DeviceCommand] as const,
  );
  return new Map([["", own as DeviceCommand], ...ofParts, ["extra/", extra as DeviceCommand]]);
}

/** The command that recalls a scene, with the code that it needs and without what is not commanded. */
function sceneOf(
  session: DeviceSession,
  captured: ReadonlyMap<string, DeviceCommand>,
): WholeCommand {
  const code = session.bridge.codes?.[session.nativeId];
  let scene: WholeCommand = { command: {}, beyond: { parts: {}, extra: {} } };
  for (const { path, capabilities, toCommand } of session.functions) {
    const sent = Object.entries(captured.get(path) ?? {}).filter(
      ([name]) => !session.isExplained("except", `${path}${name}`),
    );
    if (sent.length === 0) continue;
    const needsCode = code !== undefined && "code" in capabilities;
    const { command, beyond } = toCommand({
      ...Object.fromEntries(sent),
      ...(needsCode && { code }),
    });
    scene = {
      command: { ...scene.command, ...command },
      beyond: {
        parts: { ...scene.beyond.parts, ...beyond.parts },
        extra: { ...scene.beyond.extra, ...beyond.extra },
      },
    };
  }
  return scene;
}
