import type { DeviceCommand } from "@mantel/plugin-sdk/device";
import { Type, type Static } from "typebox";

export const BridgeStatus = Type.Enum(["ok", "degraded", "starting", "down"]);
export type BridgeStatus = Static<typeof BridgeStatus>;

/** A bridge as `GET /smart-home/devices` shows it. */
export const BridgeView = Type.Object({
  /** The id of its module. */
  id: Type.String(),
  /** First part of its devices' ids. */
  kind: Type.String(),
  name: Type.String(),
  status: BridgeStatus,
  /** Why it is not ok, for people. */
  reason: Type.Union([Type.String(), Type.Null()]),
});
export type BridgeView = Static<typeof BridgeView>;

/** How fast a bridge may be asked, from its manifest. */
export interface BridgeLimits {
  readonly commandsPerSecond: number;
  readonly burst: number;
  readonly confirmMs: number;
}

/** A module that serves devices, as devices and scenes reach it. */
export interface Bridge {
  readonly view: BridgeView;
  readonly limits: BridgeLimits;
  /**
   * Resolves when the device has confirmed.
   * @throws MantelError `bridge_down`, `bridge_rate_limited`, `deadline_passed`
   */
  command(nativeId: string, command: DeviceCommand, commandId: string): Promise<void>;
  /** @throws MantelError as for `command` */
  activateScene(nativeId: string, activationId: string): Promise<void>;
}

/** True while what a bridge serves can be reached through it. */
export function isUp(bridge: Bridge | undefined): boolean {
  const status = bridge?.view.status;
  return status === "ok" || status === "degraded";
}

/** All bridges there are now, by module id. */
export interface BridgeDirectory {
  find(id: string): Bridge | undefined;
  list(): readonly Bridge[];
}
