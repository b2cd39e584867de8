import type { DeviceDescription, SceneDescription } from "@mantel/plugin-sdk";
import type { HueBridge } from "./bridge.ts";
import type { Resource } from "./resources.ts";

/** The bridge and resource of a device or scene. */
export interface Place {
  readonly bridge: HueBridge;
  readonly resource: Resource;
}

/** Maximum number of devices that a module may publish. */
const MOST_DEVICES = 5_000;
const MOST_SCENES = 1_000;

/** The combined content of several bridges. */
export interface Merged {
  readonly devices: readonly DeviceDescription[];
  readonly scenes: readonly SceneDescription[];
  /** By native id. */
  readonly places: ReadonlyMap<string, Place>;
  /** Number of devices and scenes beyond the limit. */
  readonly left: number;
}

/**
 * Merges the content of bridges. If two bridges list the same light, the one that reaches it wins.
 */
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
