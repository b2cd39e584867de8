import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import {
  definePlugin,
  type DeviceState,
  type DeviceUpdate,
  MantelError,
  Type,
} from "@mantel/plugin-sdk";
import { DEVICES } from "./devices.ts";
import { openRadio } from "./radio.ts";
import { SCENES } from "./scenes.ts";
import { applyCommand, tick } from "./simulate.ts";
import { openWorld, shownStates, World } from "./world.ts";

/** Delay of an answer, similar to real radio devices. */
const FASTEST_ANSWER_MS = 30;
const SLOWEST_ANSWER_MS = 80;

/** A demo home in memory, for trying Mantel without hardware. */
export default definePlugin({
  options: Type.Object({
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
  }),
  state: World,

  async start(ctx) {
    const { config, devices, scenes, handedOver, onDispose } = ctx;
    const radio = openRadio(ctx);
    let world = openWorld(config.seed, handedOver);
    let shown = shownStates(world);
    await devices.publish(
      DEVICES.map((device) => ({ ...device, state: shown.get(device.nativeId) ?? device.state })),
    );
    await scenes.publish(SCENES);

    const become = (next: World) => {
      const before = shown;
      world = next;
      shown = shownStates(world);
      devices.update(...changes(before, shown));
    };
    const ask = async (path: string, message: object) => {
      await Promise.all([answerTime(), radio.send(path, message)]);
    };
    const clock = setInterval(
      () => become(tick(world, config.tickSeconds)),
      config.tickSeconds * 1_000,
    );
    onDispose(() => clearInterval(clock));

    return {
      async command(nativeId, command) {
        await ask(nativeId, command);
        become(applyCommand(world, nativeId, command));
      },
      async activateScene(nativeId) {
        const { targets } = sceneOf(nativeId);
        await ask(`scenes/${nativeId}`, targets);
        become(applyCommands(world, targets));
      },
      handOver: () => world,
    };
  },
});

function sceneOf(nativeId: string) {
  const scene = SCENES.find((each) => each.nativeId === nativeId);
  if (scene) return { targets: {}, ...scene };
  throw new MantelError("scene_unknown", `the home has no scene ${nativeId}`);
}

function applyCommands(world: World, targets: Readonly<Record<string, DeviceState>>): World {
  return Object.entries(targets).reduce(
    (after, [id, command]) => applyCommand(after, id, command),
    world,
  );
}

function answerTime(): Promise<void> {
  return delay(FASTEST_ANSWER_MS + Math.random() * (SLOWEST_ANSWER_MS - FASTEST_ANSWER_MS));
}

/** An update for each device whose shown state has changed. */
function changes(
  before: ReadonlyMap<string, DeviceState>,
  after: ReadonlyMap<string, DeviceState>,
): DeviceUpdate[] {
  return [...after].flatMap(([nativeId, state]) =>
    isDeepStrictEqual(state, before.get(nativeId)) ? [] : [{ nativeId, state }],
  );
}
