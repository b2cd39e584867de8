import { Type, type Static } from "typebox";
import type { CalendarEvent, CalendarSource } from "./calendar.ts";
import type { Cause, CauseReason } from "./cause.ts";
import type { CommandBody, Device, DeviceEvent } from "./device.ts";
import { DeviceKind } from "./device.ts";
import type { Scene } from "./scene.ts";
import { Strict } from "./schema.ts";

/** Home-wide settings that every plugin may read. They may change while it runs. */
export interface HomeSettings {
  /** BCP 47 language tag, such as `en-GB`. */
  readonly locale: string;
  /** IANA time zone, such as `Europe/Berlin`. */
  readonly timeZone: string;
  /** Seconds between two polls of a device that does not report changes by itself (`devices.pollSeconds`). */
  readonly pollSeconds: number;
}

/**
 * The devices that a call concerns: `*` for all, `light:*` for a kind, the id of one, or properties that a device must
 * all have. Only devices that the manifest lists under `permissions.home.read` are among them.
 */
export const DeviceSelector = Type.Union([
  Type.String({ minLength: 1, maxLength: 150 }),
  Type.Object(
    {
      id: Type.Optional(Type.String({ maxLength: 150 })),
      kind: Type.Optional(DeviceKind),
      room: Type.Optional(Type.String({ maxLength: 200 })),
      /** The id of the module that serves the device. */
      bridge: Type.Optional(Type.String({ maxLength: 64 })),
    },
    Strict,
  ),
]);
export type DeviceSelector = Static<typeof DeviceSelector>;

/** True if a device is among those that a selector means. */
export function selects(
  selector: DeviceSelector,
  device: Pick<Device, "id" | "kind" | "room" | "bridge">,
): boolean {
  if (typeof selector === "string") {
    return selector === "*" || selector === device.id || selector === `${device.kind}:*`;
  }
  const { id, kind, room, bridge } = selector;
  return (
    (id === undefined || id === device.id) &&
    (kind === undefined || kind === device.kind) &&
    (room === undefined || room === device.room) &&
    (bridge === undefined || bridge === device.bridge)
  );
}

/** A device as it is now, and as the plugin saw it last. */
export interface DeviceChange {
  readonly id: string;
  /** Absent for a removed device. */
  readonly device: Device | undefined;
  /** Absent for a new device, and in the first list of `follow`. */
  readonly old: Device | undefined;
  /** Absent for a new or removed device, and in the first list of `follow`. */
  readonly cause: Cause | undefined;
  /** True in the first list of `follow`, which has the devices as they are. */
  readonly isInitial: boolean;
}

/** A listener of changes. A removed device is absent as the first argument, a new one as the second. */
export type DeviceListener = (
  device: Device | undefined,
  old: Device | undefined,
  cause: Cause | undefined,
) => void | Promise<void>;

/** Ends what was begun. */
export type Stop = () => void;

export interface HomeDevices {
  /** @throws MantelError `invalid`, with the line to add, for devices that the manifest does not list */
  list(selector?: DeviceSelector): Promise<Device[]>;
  /** @throws MantelError `device_unknown`; `invalid` if the manifest does not list it */
  get(id: string): Promise<Device>;
  /**
   * Yields the selected devices as they are, and then each change. Of a device that changes faster than the loop reads,
   * it yields the newest state. Ends when the generation ends.
   */
  follow(selector?: DeviceSelector): AsyncIterable<DeviceChange>;
  /**
   * Calls a listener for each change from now on; changes during a reload are passed to the next generation. One call
   * ends before the next begins, and of a device that changes meanwhile only the newest state is passed on. With `each`
   * every change is passed on, in order: 4,096 may wait; beyond that, changes of one device are merged, and a log line
   * counts them.
   * @throws MantelError as `list`
   */
  on(
    selector: DeviceSelector,
    listener: DeviceListener,
    options?: { readonly each?: boolean },
  ): Promise<Stop>;
}

/** A momentary event of a device, such as a button press. */
export interface HomeDeviceEvent {
  readonly deviceId: string;
  readonly event: string;
  /** ISO 8601 in UTC. */
  readonly at: string;
  readonly data?: DeviceEvent["data"];
}

export interface HomeEvents {
  /** Calls a listener for each event. Of more than 1,000 that wait, the oldest are dropped, with a log line. */
  on(
    selector: DeviceSelector,
    listener: (event: HomeDeviceEvent) => void | Promise<void>,
  ): Promise<Stop>;
}

/** The reason of a failure, as an answer of the API gives it. */
export interface HomeError {
  /** Such as `bridge_down` or `deadline_passed`. */
  readonly code: string;
  /** A user-facing sentence. */
  readonly detail: string;
}

/**
 * A valid command that failed. Commands that were merged into one fail as one, with the cause of the last. One with the
 * code `bridge_rate_limited` was not sent; dashboards send theirs again.
 */
export interface HomeFailure {
  readonly deviceId: string;
  /** ISO 8601 in UTC. */
  readonly at: string;
  /** The command without codes, such as the one of an alarm panel. */
  readonly command: CommandBody;
  readonly error: HomeError;
  readonly cause?: Cause;
}

export interface HomeFailures {
  /** Calls a listener for each failed command, within the same bounds as `events.on`. */
  on(
    selector: DeviceSelector,
    listener: (failure: HomeFailure) => void | Promise<void>,
  ): Promise<Stop>;
}

/** The end of a scene's activation. */
export interface HomeSceneEvent {
  readonly sceneId: string;
  readonly name: string;
  readonly activationId: string;
  /** ISO 8601 in UTC. */
  readonly at: string;
  /** `partial` if some of its commands failed, each of which is a failure of its own. */
  readonly status: "ok" | "partial" | "failed";
  /** Set if it failed as a whole. */
  readonly error?: HomeError;
  readonly cause?: Cause;
}

export interface HomeScenes {
  /** The scenes that the manifest lists. */
  list(): Promise<Scene[]>;
  /** Calls a listener for each activation of those scenes, within the same bounds as `events.on`. */
  on(listener: (scene: HomeSceneEvent) => void | Promise<void>): Promise<Stop>;
}

/** The result of a command. `superseded` if later commands have set all of its fields. */
export interface HomeCommandResult {
  readonly commandId: string;
  readonly status: "applied" | "superseded";
}

/** The result of a scene for each of its devices. */
export interface HomeActivation {
  readonly activationId: string;
  readonly status: "ok" | "partial";
  readonly results: readonly {
    readonly deviceId: string;
    readonly status: "applied" | "superseded" | "failed";
    readonly error?: { readonly code: string; readonly detail: string };
  }[];
}

export interface HomeRoom {
  readonly name: string;
  readonly deviceIds: readonly string[];
}

/** A person or thing whose place a tracker tells. */
export interface Presence {
  readonly deviceId: string;
  readonly name: string;
  /** `undefined` if the device does not know. */
  readonly isHome: boolean | undefined;
  /** The name of the place, such as `Work`. */
  readonly zone: string | undefined;
}

/** The sun at the home. */
export interface Sun {
  /** Degrees above the horizon. */
  readonly elevation: number;
  /** Degrees clockwise from north. */
  readonly azimuth: number;
  readonly isUp: boolean;
  /** ISO 8601 in UTC; `null` if the sun does not rise, or set, within the next year. */
  readonly nextRise: string | null;
  readonly nextSet: string | null;
}

/** Degrees; north and east are above 0. */
export interface Coordinates {
  /** The user-facing name of the place, if it is known. */
  readonly name?: string;
  readonly latitude: number;
  readonly longitude: number;
}

/** The events that overlap a window of time, by their start; at most 2,000. */
export interface HomeCalendarAnswer {
  readonly events: readonly CalendarEvent[];
  readonly sources: readonly CalendarSource[];
  /** True if there are more. */
  readonly truncated: boolean;
  /** False if a source could not be read, or its events are not worked out yet. */
  readonly complete: boolean;
}

/** The automation for which a plugin of the kind `automation` acts. */
export interface ActsFor {
  readonly automation: { readonly id: string; readonly name: string };
  /**
   * The cause of its run. Left out unless the host has sent it to this plugin, with a change or a request, or it is a device
   * that the plugin reads.
   */
  readonly parent?: Cause;
  /** The reason for which it runs. */
  readonly what?: CauseReason;
  /** The instant at which it began to run, ISO 8601; the present if absent. */
  readonly at?: string;
}

/** The home as a plugin reads and controls it, within `permissions.home` of its manifest. */
export interface Home extends HomeSettings {
  /**
   * Calls a listener with each new value of a setting, such as `locale`. `home.locale` and the others always have the current
   * value. A plugin that has read a setting and has no listener for it is reloaded when that setting changes.
   */
  on<S extends keyof HomeSettings>(
    setting: S,
    listener: (value: HomeSettings[S]) => void | Promise<void>,
  ): Stop;
  readonly devices: HomeDevices;
  readonly events: HomeEvents;
  readonly failures: HomeFailures;
  readonly scenes: HomeScenes;
  readonly calendar: {
    /** @throws MantelError `service_unavailable` without calendars */
    between(start: Date, end: Date): Promise<HomeCalendarAnswer>;
  };
  /**
   * Sends a command to a device of any bridge. Resolves when the device has confirmed it.
   * @param options.by for plugins of the kind `automation`: the automation that is named as the cause
   * @throws MantelError as `POST /smart-home/devices/:id/command`; `rate_limited` above 20 a second, or 100 for plugins
   * of the kind `automation`
   */
  command(
    id: string,
    command: CommandBody,
    options?: { readonly by?: ActsFor },
  ): Promise<HomeCommandResult>;
  /** Activates a scene. @throws MantelError as `command` */
  activateScene(id: string, options?: { readonly by?: ActsFor }): Promise<HomeActivation>;
  /** The rooms of the devices that the manifest lists, by name. */
  rooms(): Promise<HomeRoom[]>;
  /** The people and things of all trackers that the manifest lists. */
  presence(): Promise<Presence[]>;
  /** The sun now, or at another instant; `undefined` if the home has no coordinates. */
  sun(at?: Date): Promise<Sun | undefined>;
  /** `undefined` if `home.latitude` and `home.longitude` are not set. */
  coordinates(): Promise<Coordinates | undefined>;
  /**
   * Sends a message to people: the dashboards show it, and plugins that provide `home.notify` send it on. The manifest
   * lists `home.notify` under `uses`.
   * @param options.to the names of the receivers; absent means the usual ones of each provider
   * @param options.from the name of what sends it, such as an automation; absent means the plugin
   * @throws ServiceError, MantelError the failure of a provider
   */
  notify(
    message: string,
    options?: { readonly to?: string | readonly string[]; readonly from?: string },
  ): Promise<void>;
}
