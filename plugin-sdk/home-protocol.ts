import type { Cause } from "./cause.ts";
import type { CommandBody, Device } from "./device.ts";
import type {
  ActsFor,
  Coordinates,
  DeviceSelector,
  HomeActivation,
  HomeCalendarAnswer,
  HomeCommandResult,
  HomeDeviceEvent,
  HomeFailure,
  HomeRoom,
  HomeSceneEvent,
  Sun,
} from "./home.ts";
import type { Scene } from "./scene.ts";

/** One changed device of a follower. */
export interface SentChange {
  readonly id: string;
  /** Absent for a removed device. */
  readonly device?: Device;
  /** The fields of the previous device that differ; the whole device if it was removed. Absent without a previous one. */
  readonly before?: Partial<Device>;
  readonly cause?: Cause;
  readonly isInitial?: true;
}

/** The momentary events by the followers that get them. */
export interface HomeOccurrences {
  readonly events: HomeDeviceEvent;
  readonly failures: HomeFailure;
  readonly scenes: HomeSceneEvent;
}

/** The changes and events for one follower. */
export interface HomeBatch {
  readonly follower: number;
  readonly changes?: readonly SentChange[];
  /** Of the kind that the follower has asked for. */
  readonly events?: readonly HomeOccurrences[keyof HomeOccurrences][];
}

export interface FollowRequest {
  /** A number that the process has not used before. */
  readonly follower: number;
  readonly selector: DeviceSelector;
  /** `devices`: the devices as they are and their changes; `changes`: only changes; others: momentary events. */
  readonly what: "devices" | "changes" | keyof HomeOccurrences;
  /** True during the start, for changes since the previous generation ended. */
  readonly isStart: boolean;
  /** For changes: true if each of them is sent by itself. */
  readonly each?: boolean;
}

/** A change that a listener of an ended generation has not seen. `device` is present if the listener gets each change. */
export type UnseenChange = Pick<SentChange, "id" | "device" | "before" | "cause">;

/** The calls of `ctx.home`. */
export interface HomeHostApi {
  /** Lists the selected devices in parts; `after` is the id of the last device of the previous part. */
  listHomeDevices(request: {
    selector: DeviceSelector;
    after?: string;
  }): Promise<{ devices: readonly Device[]; isLast: boolean }>;
  getHomeDevice(request: { id: string }): Promise<Device>;
  followHome(request: FollowRequest): Promise<void>;
  unfollowHome(request: { follower: number }): Promise<void>;
  /** Ends all followers, because the generation ends. The next one gets what these have not seen. */
  suspendHome(request: { unseen: readonly UnseenChange[] }): Promise<void>;
  commandHome(request: {
    id: string;
    command: CommandBody;
    by?: ActsFor;
  }): Promise<HomeCommandResult>;
  activateHomeScene(request: { id: string; by?: ActsFor }): Promise<HomeActivation>;
  listHomeScenes(nothing: Record<string, never>): Promise<readonly Scene[]>;
  listHomeRooms(nothing: Record<string, never>): Promise<readonly HomeRoom[]>;
  getSun(request: { at?: string }): Promise<Sun | null>;
  getCoordinates(nothing: Record<string, never>): Promise<Coordinates | null>;
  listHomeEvents(request: { start: string; end: string }): Promise<HomeCalendarAnswer>;
}
