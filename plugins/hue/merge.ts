import type { DeviceDescription, SceneDescription } from "@mantel/plugin-sdk";
import type { HueBridge } from "./bridge.ts";
import type { Resource } from "./resources.ts";

/** What serves a device or a scene. */
export interface Place {
  readonly bridge: HueBridge;
  readonly resource: Resource;
}

/** As many as a module may publish. */
const MOST_DEVICES = 5_000;
const MOST_SCENES = 1_000;

/** What several bridges have, as one. */
export interface Merged {
  readonly devices: readonly DeviceDescription[];
  readonly scenes: readonly SceneDescription[];
  /** By native id. */
  readonly places: ReadonlyMap<string, Place>;
  /** Devices and scenes that there is no room for. */
  readonly left: number;
}

/** Joins what bridges have. Of a light that two of them list, that of the one which reaches it counts. */
export function merge(bridges: readonly HueBridge[]): Merged {
  const devices = new Map<string, DeviceDescription>();
  const scenes = new Map<string, SceneDescription>();
  const places = new Map<string, Place>();
  for (const bridge of bridges) {
    const { described, problem } = bridge;
    const settle = (nativeId: string) => {
      const resource = described.targets.get(nativeId);
      if (resource) places.set(nativeId, { bridge, resource });
    };
    const gateway = bridge.id;
    for (const device of described.devices) {
      const available = problem === undefined && device.available !== false;
      if (devices.has(device.nativeId) && !available) continue;
      devices.set(device.nativeId, { ...device, gateway, available });
      settle(device.nativeId);
    }
    for (const scene of described.scenes) {
      scenes.set(scene.nativeId, { ...scene, gateway });
      settle(scene.nativeId);
    }
  }
  return {
    devices: [...devices.values()].slice(0, MOST_DEVICES),
    scenes: [...scenes.values()].slice(0, MOST_SCENES),
    places,
    left: Math.max(0, devices.size - MOST_DEVICES) + Math.max(0, scenes.size - MOST_SCENES),
  };
}
