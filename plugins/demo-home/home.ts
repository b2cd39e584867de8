import { setTimeout as delay } from "node:timers/promises";
import {
  type CommandBeyond,
  type DeviceCommand,
  type DeviceImage,
  type DeviceState,
  MantelError,
  type PluginContext,
  type RunningPlugin,
  type Static,
  Type,
  every,
} from "@mantel/plugin-sdk";
import { CAMERA } from "./devices.ts";
import { coverPicture, gardenPicture } from "./picture.ts";
import { PLAYERS } from "./players.ts";
import { openRadio } from "./radio.ts";
import { SCENES } from "./scenes.ts";
import { applyCommand, tick } from "./simulate.ts";
import { changesBetween, describeDevices, openWorld, shownStates, type World } from "./world.ts";

/** Delay of an answer, similar to real radio devices. */
const FASTEST_ANSWER_MS = 30;
const SLOWEST_ANSWER_MS = 80;
/** The time between two live pictures of the camera. */
const FRAME_EVERY_MS = 250;

export const Options = Type.Object({
  seed: Type.Integer({
    title: "Seed",
    description: "The same seed gives the same home, with the same weather.",
    default: 1,
  }),
  tickSeconds: Type.Number({
    title: "Seconds between two moments",
    default: 1,
    minimum: 0.05,
    maximum: 60,
  }),
});

/** Starts the home. `answer` resolves after the delay of an answer; tests use a shorter one. */
export async function startHome(
  ctx: PluginContext<Static<typeof Options>, World>,
  answer = answerTime,
): Promise<RunningPlugin<World>> {
  const { config, devices, scenes, handedOver } = ctx;
  const radio = openRadio(ctx);
  let world = openWorld(config.seed, handedOver);
  let shown = shownStates(world);
  await devices.publish(describeDevices(shown));
  await scenes.publish(SCENES);

  const become = (next: World) => {
    const before = shown;
    world = next;
    shown = shownStates(world);
    devices.update(...changesBetween(before, shown));
  };
  const ask = async (path: string, message: object) => {
    await Promise.all([answer(), radio.send(path, message)]);
  };
  const tickMs = config.tickSeconds * 1_000;
  every(ctx, tickMs, () => become(tick(world, config.tickSeconds)));

  const garden = (): DeviceImage => {
    const { "garden-weather": weather = {}, terrace = {} } = world.devices;
    const seconds = Date.now() / 1_000;
    return { type: "image/png", bytes: gardenPicture({ weather, terrace, seconds }) };
  };

  return {
    async command(nativeId, command, _commandId, beyond) {
      await ask(nativeId, messageOf(command, beyond));
      become(applyCommands(world, targetsOf(nativeId, command, beyond)));
    },
    async activateScene(nativeId) {
      const { targets } = sceneOf(nativeId);
      await ask(`scenes/${nativeId}`, targets);
      become(applyCommands(world, targets));
    },
    async image(nativeId) {
      if ([...PLAYERS.values()].includes(nativeId)) {
        return { type: "image/png", bytes: coverPicture(world.devices[nativeId] ?? {}) };
      }
      return nativeId === CAMERA ? garden() : undefined;
    },
    async *frames(nativeId, signal) {
      if (nativeId !== CAMERA) return;
      while (!signal.aborted) {
        yield garden();
        await delay(FRAME_EVERY_MS, undefined, { signal }).catch(() => undefined);
      }
    },
    handOver: () => world,
  };
}

/** The command as it is published. A code stays secret. */
function messageOf({ code: _code, ...command }: DeviceCommand, { parts, extra }: CommandBeyond) {
  const has = (values: object) => Object.keys(values).length > 0;
  return { ...command, ...(has(parts) && { parts }), ...(has(extra) && { extra }) };
}

/** The values of a command by function. */
function targetsOf(nativeId: string, command: DeviceCommand, { parts, extra }: CommandBeyond) {
  const targets = new Map<string, DeviceCommand>();
  const add = (path: string, values: DeviceCommand) => {
    if (Object.keys(values).length > 0) targets.set(path, values);
  };
  add(nativeId, command);
  for (const [id, values] of Object.entries(parts)) add(`${nativeId}/${id}`, values);
  add(`${nativeId}/extra`, extra);
  return Object.fromEntries(targets);
}

function sceneOf(nativeId: string) {
  const scene = SCENES.find((each) => each.nativeId === nativeId);
  if (scene) return { targets: {}, ...scene };
  throw new MantelError("scene_unknown", `the home has no scene ${nativeId}`);
}

function applyCommands(world: World, targets: Readonly<Record<string, DeviceState>>): World {
  return Object.entries(targets).reduce(
    (after, [path, command]) => applyCommand(after, path, command),
    world,
  );
}

function answerTime(): Promise<void> {
  return delay(FASTEST_ANSWER_MS + Math.random() * (SLOWEST_ANSWER_MS - FASTEST_ANSWER_MS));
}
