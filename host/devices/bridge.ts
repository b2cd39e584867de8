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
  /** True while it is away for so short a time that whoever asks it something can wait. */
  readonly isComingBack: boolean;
  /** Resolves when it can be asked; `undefined` when it can now. @throws MantelError `bridge_down` */
  ready(): Promise<void> | undefined;
  /**
   * Resolves when the device has confirmed.
   * @throws MantelError `bridge_down`, `bridge_rate_limited`, `deadline_passed`, or `outcome_unknown`
   *   when the bridge ended before it confirmed
   */
  command(nativeId: string, command: DeviceCommand, commandId: string): Promise<void>;
  /** @throws MantelError as for `command` */
  activateScene(nativeId: string, activationId: string): Promise<void>;
}

/** True while what a bridge serves can be reached through it, if need be after a short wait. */
export function isUp(bridge: Bridge | undefined): boolean {
  if (!bridge) return false;
  return bridge.isComingBack || ["ok", "degraded"].includes(bridge.view.status);
}

/** All bridges there are now, by module id. */
export interface BridgeDirectory {
  find(id: string): Bridge | undefined;
  list(): readonly Bridge[];
}
