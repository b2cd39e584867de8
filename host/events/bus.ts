import type { CalendarSource, SystemSample } from "@mantel/plugin-sdk";
import type { Device, DeviceEvent } from "@mantel/plugin-sdk/device";
import type { LogEntry } from "../modules/logs.ts";
import type { ModuleView } from "../modules/view.ts";

/** What happened in the house and in the host, by topic. Data is plain and, but for one, safe to send to readers. */
export interface Announcements {
  "device.state": { readonly device: Device };
  "device.added": { readonly device: Device };
  "device.removed": { readonly id: string };
  /** Something that happened and is over, such as a press: twice the same is two announcements. */
  "device.event": {
    readonly deviceId: string;
    readonly event: string;
    /** ISO 8601 in UTC. */
    readonly at: string;
    readonly data?: NonNullable<DeviceEvent["data"]>;
  };
  "scene.activated": {
    readonly sceneId: string;
    readonly activationId: string;
    readonly status: "ok" | "partial";
  };
  "scenes.changed": { readonly revision: number };
  "module.state": { readonly module: ModuleView };
  "module.removed": { readonly id: string };
  /** May hold what only `admin` may read, unlike all others. */
  "module.log": { readonly module: string; readonly entry: LogEntry };
  "layout.changed": { readonly revision: number };
  "config.changed": { readonly changed: readonly string[]; readonly revision: number };
  "calendar.updated": { readonly sources: readonly CalendarSource[] };
  "system.sample": SystemSample;
  "weather.updated": { readonly fetchedAt: string };
  "widget.updated": {
    readonly module: string;
    readonly hash: string;
    readonly url: string;
  };
}
export type Topic = keyof Announcements;

export type Announcement = {
  [T in Topic]: { readonly topic: T; readonly data: Announcements[T] };
}[Topic];

type Listener = (announcement: Announcement) => void;

/** Tells whoever listens what has happened. No part waits for an announcement to go on with its work. */
export class Bus {
  readonly #listeners = new Set<Listener>();

  announce<T extends Topic>(topic: T, data: Announcements[T]): void {
    const announcement = { topic, data } as Announcement;
    for (const listener of this.#listeners) listener(announcement);
  }

  /** Calls `listener` for each announcement from now on; the function it returns ends that. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
