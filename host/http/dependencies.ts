import type { Audit } from "../auth/audit.ts";
import type { LastUse } from "../auth/last-use.ts";
import type { Pairings } from "../auth/pairings.ts";
import type { Tokens } from "../auth/tokens.ts";
import type { Backups } from "../backup/backups.ts";
import type { CalendarActions } from "../calendar/actions.ts";
import type { Calendar } from "../calendar/calendar.ts";
import type { FeedAddresses } from "../calendar/feed-addresses.ts";
import type { CalendarFeed } from "../calendar/feed.ts";
import type { ChannelRegistry } from "../channels/registry.ts";
import type { ConfigStore } from "../config/store.ts";
import type { Commands } from "../devices/commands.ts";
import type { DeviceImages } from "../devices/images.ts";
import type { LivePictures } from "../devices/live-pictures.ts";
import type { DeviceRegistry } from "../devices/registry.ts";
import type { SensorHistory } from "../devices/sensor-history.ts";
import type { Connectables } from "../discovery/connectable.ts";
import type { EventStreams } from "../events/sse.ts";
import type { Languages } from "../languages/languages.ts";
import type { LayoutStore } from "../layout/store.ts";
import type { HostLog } from "../log.ts";
import type { ModuleManager } from "../modules/manager.ts";
import type { Publisher } from "../mqtt/publish.ts";
import type { OpenPackages } from "../packages/open-packages.ts";
import type { Places } from "../places/places.ts";
import type { ApiPaths } from "../routes/api-paths.ts";
import type { RouteSecrets } from "../routes/secrets.ts";
import type { SceneRegistry } from "../scenes/registry.ts";
import type { ServiceRegistry } from "../services/registry.ts";

/** The parts of the host that the HTTP API uses. */
export interface HttpDependencies {
  readonly version: string;
  /** The start of this host, by `performance.now()`. */
  readonly startedAt: number;
  /** The address by which other devices reach the host; `undefined` if there is none. */
  readonly address: () => string | undefined;
  readonly log: HostLog;
  readonly audit: Audit;
  readonly tokens: Tokens;
  readonly pairings: Pairings;
  readonly lastUse: LastUse;
  readonly config: ConfigStore;
  readonly layout: LayoutStore;
  readonly devices: DeviceRegistry;
  readonly images: DeviceImages;
  readonly livePictures: LivePictures;
  readonly readings: SensorHistory;
  readonly commands: Commands;
  readonly scenes: SceneRegistry;
  readonly channels: ChannelRegistry;
  readonly apiPaths: ApiPaths;
  readonly publisher: Publisher;
  readonly modules: ModuleManager;
  readonly services: ServiceRegistry;
  readonly routeSecrets: RouteSecrets;
  readonly installed: Pick<OpenPackages, "packages" | "plugins">;
  readonly calendar: Calendar;
  readonly calendarActions: CalendarActions;
  readonly calendarFeed: CalendarFeed;
  readonly feedAddresses: FeedAddresses;
  readonly places: Places;
  readonly languages: Languages;
  readonly connectables: Connectables;
  readonly streams: EventStreams;
  readonly assets: AssetsDependency;
  readonly backups: Backups;
  /** Stops the host once it has answered, and starts it again in the same process. */
  readonly restart: () => void;
}

export interface AssetsDependency {
  find(path: string): Promise<Asset | undefined>;
}

export interface Asset {
  readonly body: Buffer | string;
  readonly type: string;
  /** True for a file whose name changes with its content. */
  readonly immutable: boolean;
  /** The content policy of a page that the dashboard frames; absent for all other files. */
  readonly framedPolicy?: string;
}
