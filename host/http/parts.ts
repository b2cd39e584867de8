import type { Audit } from "../auth/audit.ts";
import type { LastUse } from "../auth/last-use.ts";
import type { Pairings } from "../auth/pairings.ts";
import type { Tokens } from "../auth/tokens.ts";
import type { Backups } from "../backup/backups.ts";
import type { Calendar } from "../calendar/calendar.ts";
import type { FeedAddresses } from "../calendar/feed-addresses.ts";
import type { CalendarFeed } from "../calendar/feed.ts";
import type { Config } from "../config/schema.ts";
import type { ConfigStore } from "../config/store.ts";
import type { Commands } from "../devices/commands.ts";
import type { ReadingHistory } from "../devices/history.ts";
import type { DeviceRegistry } from "../devices/registry.ts";
import type { FanOut } from "../events/fan-out.ts";
import type { LayoutStore } from "../layout/store.ts";
import type { HostLog } from "../log.ts";
import type { ModuleRegistry } from "../modules/registry.ts";
import type { Publisher } from "../mqtt/publish.ts";
import type { Photos } from "../photos/photos.ts";
import type { SceneRegistry } from "../scenes/registry.ts";
import type { Samples } from "../system/samples.ts";
import type { Weather } from "../weather/weather.ts";

/** The parts of the host that the HTTP API asks, each as far as the API needs it. */
export interface Parts {
  readonly version: string;
  readonly log: HostLog;
  readonly audit: Pick<Audit, "record" | "read">;
  readonly tokens: Pick<
    Tokens,
    "verify" | "issue" | "renew" | "noteUse" | "list" | "revoke" | "rotateKey"
  >;
  readonly pairings: Pick<Pairings, "start" | "find" | "decide" | "collect" | "hasGranted">;
  readonly lastUse: Pick<LastUse, "note" | "at">;
  readonly config: ConfigPart;
  readonly layout: Pick<LayoutStore, "current" | "replace" | "history" | "restore">;
  readonly devices: Pick<DeviceRegistry, "get" | "snapshot" | "adjust" | "forget">;
  readonly readings: Pick<ReadingHistory, "of">;
  readonly commands: Pick<Commands, "send">;
  readonly scenes: Pick<SceneRegistry, "revision" | "list" | "get" | "put" | "remove" | "activate">;
  readonly publisher: Pick<Publisher, "publish">;
  readonly modules: ModulesPart;
  readonly calendar: Pick<Calendar, "events">;
  readonly calendarFeed: Pick<CalendarFeed, "current">;
  readonly feedAddresses: Pick<FeedAddresses, "list" | "create" | "revoke" | "admits">;
  readonly weather: Pick<Weather, "current">;
  readonly photos: Pick<Photos, "list" | "read">;
  readonly samples: Pick<Samples, "current">;
  readonly streams: Pick<FanOut, "open" | "streams" | "dropped">;
  readonly assets: AssetsPart;
  readonly backups: Pick<Backups, "make" | "planRestore">;
}

export interface ConfigPart extends Pick<ConfigStore, "view" | "formOf" | "patch"> {
  readonly current: Pick<Config, "api" | "server">;
}

export type ModulesPart = Pick<
  ModuleRegistry,
  | "revision"
  | "list"
  | "get"
  | "reload"
  | "rollBack"
  | "enable"
  | "disable"
  | "logs"
  | "settled"
  | "counts"
  | "work"
  | "trialsOf"
>;

export interface AssetsPart {
  find(path: string): Asset | undefined;
}

export interface Asset {
  readonly body: Buffer | string;
  readonly type: string;
  /** True for a file whose name changes with its content. */
  readonly immutable: boolean;
}
