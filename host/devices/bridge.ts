import type { CommandBeyond, DeviceCommand } from "@mantel/plugin-sdk/device";
import type { SentFrame, SentImage } from "@mantel/plugin-sdk/device-image";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { RateLimitedKind } from "@mantel/plugin-sdk/manifest";
import { Type, type Static } from "typebox";

export const BridgeStatus = Type.Enum(["ok", "degraded", "starting", "down"]);
export type BridgeStatus = Static<typeof BridgeStatus>;

/** A bridge as `GET /smart-home/devices` shows it. */
export const BridgeView = Type.Object({
  /** The id of its module. */
  id: Type.String(),
  /** The first part of its devices' ids. */
  kind: Type.String(),
  name: Type.String(),
  status: BridgeStatus,
  /** The user-facing reason for a status other than ok. */
  reason: Type.Union([Type.String(), Type.Null()]),
});
export type BridgeView = Static<typeof BridgeView>;

/** The average rate in commands per second, and the burst after a pause. */
export interface Rate {
  readonly commandsPerSecond: number;
  readonly burst: number;
}

/** The rate limits of a bridge, from its manifest; for several gateways, of each of them. */
export interface BridgeLimits extends Rate {
  readonly confirmMs: number;
  /** Separate rates for some kinds of devices, and for scenes. */
  readonly rates?: readonly (Rate & { readonly kinds: readonly RateLimitedKind[] })[];
}

/** A module that serves devices, as devices and scenes use it. */
export interface Bridge {
  readonly view: BridgeView;
  readonly limits: BridgeLimits;
  /** True during an interruption so short that callers can wait. */
  readonly isComingBack: boolean;
  /** Resolves when commands can be sent; `undefined` if they can now. @throws MantelError `bridge_down` */
  ready(): Promise<void> | undefined;
  /**
   * Resolves when the device has confirmed. `beyond` has the values for parts and extras, if there are any.
   * @throws MantelError `bridge_down`, `bridge_rate_limited`, `deadline_passed`, or `outcome_unknown`
   * if the bridge ended before it confirmed
   */
  command(
    nativeId: string,
    command: DeviceCommand,
    commandId: string,
    beyond?: CommandBeyond,
  ): Promise<void>;
  /** @throws MantelError as for `command` */
  activateScene(nativeId: string, activationId: string): Promise<void>;
  /**
   * Reads the picture of a device, which is not checked yet; `null` while it has no picture.
   * @throws MantelError as for `command`
   */
  image(nativeId: string): Promise<SentImage | null>;
  /**
   * Waits for a live picture newer than `after`, which is not checked yet; `null` if none has come for a while, or the
   * bridge is being reloaded.
   * @throws MantelError as for `command`
   */
  nextFrame(nativeId: string, after: number): Promise<SentFrame | null>;
  /** Answers a viewer's offer of a WebRTC connection. @throws MantelError as for `command` */
  video(nativeId: string, offer: string): Promise<string>;
}

/** True while the devices and scenes of a bridge can be reached, possibly after a short wait. */
export function isUp(bridge: Bridge | undefined): boolean {
  if (!bridge) return false;
  return bridge.isComingBack || ["ok", "degraded"].includes(bridge.view.status);
}

/** All current bridges, by module id. */
export interface BridgeDirectory {
  find(id: string): Bridge | undefined;
  list(): readonly Bridge[];
}

const RETRY_AFTER_MS = 5_000;

/** The bridge of this id. @throws MantelError `bridge_down` */
export function upBridge(bridges: BridgeDirectory, id: string): Bridge {
  const bridge = bridges.find(id);
  if (bridge && bridge.view.status !== "down") return bridge;
  const reason = bridge?.view.reason ?? "its module is missing";
  throw new MantelError("bridge_down", `${id} is down: ${reason}`, {
    retryAfterMs: RETRY_AFTER_MS,
  });
}
