import type { DeviceCommand } from "@mantel/plugin-sdk/device";
import type { PacedKind } from "@mantel/plugin-sdk/manifest";
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

/** Commands per second on average, and how many may come at once after a pause. */
export interface Rate {
  readonly commandsPerSecond: number;
  readonly burst: number;
}

/** How fast a bridge may be asked, from its manifest; one with several gateways, each of them. */
export interface BridgeLimits extends Rate {
  readonly confirmMs: number;
  /** Rates of some kinds of devices, and of scenes, apart from that of all others. */
  readonly rates?: readonly (Rate & { readonly kinds: readonly PacedKind[] })[];
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
