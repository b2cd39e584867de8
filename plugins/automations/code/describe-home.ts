import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Device, every, type PluginContext, type Scene, Throttle } from "@mantel/plugin-sdk";
import type { CodeAutomations } from "./code-automations.ts";
import { homeDeclaration, TSCONFIG } from "./home-types.ts";
import type { NamedThing } from "./protocol.ts";

/** Changes of names and devices are taken together. */
const SETTLE_MS = 250;
/** Scenes report no changes. */
const SCENES_EVERY_MS = 60_000;

type Context = Pick<PluginContext<unknown, unknown>, "home" | "sources" | "log" | "onDispose">;

/** The devices and scenes that code finds by their names. */
export async function thingsOf({ home }: Pick<Context, "home">): Promise<NamedThing[]> {
  return named(await home.devices.list(), await home.scenes.list());
}

/** Writes the declarations for editors, and follows changes of names. */
export function describeHome(ctx: Context, code: CodeAutomations): { changed(): void } {
  const { home, sources, log } = ctx;
  let written = "";
  const update = async (): Promise<void> => {
    try {
      const [devices, scenes] = [await home.devices.list(), await home.scenes.list()];
      code.setThings(named(devices, scenes));
      const declared = homeDeclaration(devices, scenes);
      if (declared === written) return;
      const api = await readFile(join(import.meta.dirname, "mantel.d.ts"), "utf8");
      await sources.describe({
        "mantel.d.ts": api,
        "home.d.ts": declared,
        "tsconfig.json": TSCONFIG,
      });
      written = declared;
    } catch (error) {
      log.warn("could not write the types of the home", { error });
    }
  };
  const soon = new Throttle(SETTLE_MS, () => void update());
  ctx.onDispose(() => soon.stop());
  every(ctx, SCENES_EVERY_MS, () => soon.request());
  soon.request();
  return { changed: () => soon.request() };
}

/** True for a change that may concern names or types. */
export function concernsNames(device: Device | undefined, old: Device | undefined): boolean {
  return (
    device === undefined ||
    old === undefined ||
    device.name !== old.name ||
    device.kind !== old.kind ||
    Object.keys(device.capabilities).length !== Object.keys(old.capabilities).length
  );
}

function named(devices: readonly Device[], scenes: readonly Scene[]): NamedThing[] {
  return [
    ...devices.map(({ id, kind, name }) => ({ id, kind, name })),
    ...scenes.map(({ id, name }) => ({ id, kind: "scene", name })),
  ];
}
