import type { CalendarSource } from "@mantel/plugin-sdk";
import type { Cause } from "@mantel/plugin-sdk/cause";
import type { ChannelScope } from "@mantel/plugin-sdk/channel";
import type { Device, DeviceEvent } from "@mantel/plugin-sdk/device";
import type { HomeError, HomeFailure, HomeSceneEvent } from "@mantel/plugin-sdk/home";
import type { LogEntry, ModuleView, WidgetView } from "./module.ts";
import type { Operation } from "./plugin.ts";

/** A change of a plugin's channel. */
export interface ChannelEvent {
  /** `plugin/name`. */
  readonly channel: string;
  /** The scope that a token needs for it. */
  readonly scope: ChannelScope;
  /** The event's data as JSON: `{plugin, name, value, revision, updatedAt}`, or `{plugin, name, removed: true}`. */
  readonly text: string;
  readonly isRemoved: boolean;
}

/** An event that a plugin's manifest derives from a channel. */
export interface ContributedEvent {
  readonly topic: string;
  readonly scope: ChannelScope;
  /** The data as JSON. */
  readonly text: string;
}

/** Events of the home and the host, by topic. Data is plain and, with three exceptions, readable with any token. */
export interface ApiEvents {
  "device.state": {
    readonly device: Device;
    readonly cause: Cause;
    /** The causes of changed values with another one, by path: `power`, `parts/light/on`, `extra/childLock`. */
    readonly causes?: Readonly<Record<string, Cause>>;
  };
  "device.added": { readonly device: Device };
  "device.removed": { readonly id: string };
  /** A momentary event, such as a button press: two equal ones are two events. */
  "device.event": {
    readonly deviceId: string;
    readonly event: string;
    /** ISO 8601 in UTC. */
    readonly at: string;
    readonly data?: NonNullable<DeviceEvent["data"]>;
  };
  /** A valid command that failed. */
  "command.failed": HomeFailure;
  "scene.activated": Omit<HomeSceneEvent, "status" | "error"> & {
    readonly status: "ok" | "partial";
  };
  /** A scene of a bridge that could not be activated. */
  "scene.failed": Omit<HomeSceneEvent, "status" | "error"> & { readonly error: HomeError };
  "scenes.changed": { readonly revision: number };
  "module.state": { readonly module: ModuleView };
  "module.removed": { readonly id: string };
  /** May contain data that only `admin` may read, unlike all others. */
  "module.log": { readonly module: string; readonly entry: LogEntry };
  "layout.changed": { readonly revision: number };
  "config.changed": { readonly changed: readonly string[]; readonly revision: number };
  "calendar.updated": { readonly sources: readonly CalendarSource[] };
  /** A message to people, from an automation or another plugin. */
  notification: {
    readonly id: string;
    /** ISO 8601 in UTC. */
    readonly at: string;
    readonly message: string;
    /** The names of the receivers; empty for the usual ones. */
    readonly to: readonly string[];
    /** The name of what sent it, such as an automation; absent means the plugin. */
    readonly from?: string;
    /** The plugin that sent it. */
    readonly cause?: Cause;
  };
  /** A plugin package was installed, updated, put back after an update that did not start, or removed. */
  "plugin.installed": {
    readonly id: string;
    readonly action: "installed" | "updated" | "rolled_back" | "removed";
    readonly version: string;
  };
  /** A step of an installation, an update or a removal; `GET /plugins` has its details for admins. */
  "plugin.progress": Pick<Operation, "id" | "action" | "plugin"> & {
    readonly state: "running" | "done" | "failed";
  };
  "widget.updated": { readonly module: string } & WidgetView;
  /** Readable with the scope in it. */
  channel: ChannelEvent;
  /** An event under a topic that a plugin's manifest names. Readable with the scope in it. */
  contributed: ContributedEvent;
}
export type Topic = keyof ApiEvents;

export type ApiEvent = {
  [T in Topic]: { readonly topic: T; readonly data: ApiEvents[T] };
}[Topic];
