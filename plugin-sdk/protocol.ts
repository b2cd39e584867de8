import type { TSchema } from "typebox";
import type { CalendarPart } from "./calendar.ts";
import type { Cause } from "./cause.ts";
import type { ChannelScope } from "./channel.ts";
import type { SentFrame, SentImage } from "./device-image.ts";
import type {
  CommandBeyond,
  DeviceCommand,
  DeviceDescription,
  DeviceEvent,
  DeviceUpdate,
} from "./device.ts";
import type { DiscoveryHostApi } from "./discovery.ts";
import type { HomeBatch, HomeHostApi } from "./home-protocol.ts";
import type { HomeSettings } from "./home.ts";
import type { Permissions } from "./permissions.ts";
import type { RouteAnswer, RouteDefinition } from "./route.ts";
import type { SceneDescription } from "./scene.ts";
import type { RunRequest, ScheduleHostApi } from "./schedule-protocol.ts";
import type { ServiceDefinition } from "./service.ts";
import type { SourceChange, SourcesHostApi } from "./sources.ts";
import type { SetupStep, Trial } from "./trial.ts";

/**
 * The network access of a plugin's process. With `proxied`, the host makes each connection and look-up
 * (`NetworkApi`); with `open`, the process makes them itself.
 */
export type Network = "none" | "proxied" | "open";

/** The data for preparing a process before the plugin's code is built. All paths are absolute. */
export interface PrepareRequest {
  readonly id: string;
  /** The plugin's npm dependencies in one file; `undefined` without dependencies. */
  readonly vendor: string | undefined;
  /** The plugin's folder. Packages that cannot be bundled are loaded from here. */
  readonly folder: string;
  /** The cache folder for V8's compiled code of `vendor`, shared with later processes of this plugin. */
  readonly compiled: string;
  /** The host's data folder. Permission errors use it to suggest the right manifest entry. */
  readonly dataFolder: string;
  /** The manifest's permissions, which the process enforces. */
  readonly permissions: Permissions;
  readonly network: Network;
}

/** The data for loading one generation of a plugin. */
export interface LoadRequest extends PrepareRequest {
  /** The plugin's own sources in one CommonJS file, with its source map beside it. */
  readonly bundle: string;
}

/** The schemas (JSON Schema) and trials that the loaded code defines. */
export interface LoadResult {
  readonly options: TSchema | undefined;
  readonly state: TSchema | undefined;
  readonly trials: readonly Trial[];
  readonly channels: readonly DeclaredChannel[];
}

/** A channel as the loaded code declares it, with all defaults. */
export interface DeclaredChannel {
  readonly name: string;
  readonly schema: TSchema;
  readonly title: string;
  readonly maxBytes: number;
  readonly scope: ChannelScope;
  readonly keep: boolean;
}

/** A change of a channel that a plugin follows. */
export interface ChannelChange {
  /** `plugin/channel`. */
  readonly channel: string;
  /** The value as JSON text; absent if the channel is gone. */
  readonly json?: string;
}

export interface StartRequest {
  readonly config: unknown;
  readonly home: HomeSettings;
  /** The state of the previous generation; absent at a fresh start. */
  readonly handedOver?: unknown;
  /** The plugin's own storage folder. */
  readonly storage: string;
  /** The paths of its folders, by their names in the manifest. */
  readonly folders: Readonly<Record<string, string>>;
  /** The loopback port for a debugger while this generation runs; absent without a debugger. */
  readonly inspectPort?: number;
  /** The services that it may call. */
  readonly uses: readonly string[];
}

/** The functions that a started generation offers to the host. */
export interface StartResult {
  /** The definitions of its services. */
  readonly services: readonly ServiceDefinition[];
  readonly routes: readonly RouteDefinition[];
}

/** A request to a route of a plugin, checked by the route's schemas. */
export interface RouteCall {
  /** Method and path as defined. */
  readonly route: string;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  /** A raw body in base64. */
  readonly bytes?: string;
  /** The path of a file in the storage with a large raw body, which the host removes after the answer. */
  readonly bytesFile?: string;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The sender, for plugins of the kind `automation`. */
  readonly cause?: Cause;
}

/** The answer of a route's handler. */
export interface SentAnswer extends Omit<RouteAnswer, "content"> {
  readonly text?: string;
  /** Base64. */
  readonly bytes?: string;
}

/** A call of a service. */
export interface ServiceRequest {
  /** The service's key, such as `acme.news.items@2`. */
  readonly name: string;
  readonly input: unknown;
  /** The keys of the services in which this call is made, outermost first; absent for a call outside of services. */
  readonly chain?: readonly string[];
}

/** The data for a test or a setup. */
export type TrialRequest = Pick<StartRequest, "config" | "home" | "uses">;

/** A step of a setup. A step with a form waits for an answer. Steps count from 1. */
export interface ShownStep extends SetupStep {
  readonly step: number;
  readonly form?: TSchema;
}

export interface QuiesceResult {
  /** Absent when the plugin hands over no state. */
  readonly state?: unknown;
  /** The number of accepted calls that had to finish first. */
  readonly drained: number;
  readonly faults: readonly QuiesceFault[];
}

/** The steps of a quiesce that can fail: waiting for calls, handing over the state, releasing resources. */
export const QUIESCE_STEPS = ["calls", "handOver", "release"] as const;

export const QUIESCE_FAULT_LENGTH = 100_000;

export interface QuiesceFault {
  readonly step: (typeof QUIESCE_STEPS)[number];
  /** The thrown error with its stack, cut to `QUIESCE_FAULT_LENGTH` characters. */
  readonly error: string;
}

export const LEFTOVER_KINDS = [
  "timer",
  "interval",
  "socket",
  "pipe",
  "server",
  "watcher",
  "child process",
  "thread",
  "file",
] as const;
export type LeftoverKind = (typeof LEFTOVER_KINDS)[number];

/** A resource that a plugin opened and did not close, found after all its releases have run. */
export interface Leftover {
  readonly kind: LeftoverKind;
  /** The stack of the call that opened it, innermost frame first, in source lines; empty if unknown. */
  readonly stack: readonly string[];
  /** The file's path, for the kind `file`. */
  readonly path?: string;
}

export interface ProcessFigures {
  /** CPU time since the process started, in microseconds. */
  readonly cpuMicros: number;
  readonly heapBytes: number;
  readonly loopLagP99Ms: number;
  /** True if only a call of the host, or a change in a folder of the plugin, would give the process work. */
  readonly mayRest: boolean;
}

/**
 * The calls from the host to a plugin's process. Arguments and results are plain data, because they cross a
 * process boundary. Every call is answered within its deadline or fails with `deadline_passed`.
 */
export interface PluginApi {
  /** Loads the plugin's packages in advance. The following `load` repeats the same data and adds a bundle. */
  prepare(request: PrepareRequest): Promise<void>;
  /** Imports the plugin's code and runs its top level. Starts nothing. */
  load(request: LoadRequest): Promise<LoadResult>;
  /** Opens the connections of the next generation while the previous one still runs. */
  connect(request: StartRequest): Promise<void>;
  start(request: StartRequest): Promise<StartResult>;
  command(request: {
    nativeId: string;
    command: DeviceCommand;
    commandId: string;
    /** Values for parts and extras; absent if there are none. */
    beyond?: CommandBeyond;
  }): Promise<void>;
  activateScene(request: { nativeId: string; activationId: string }): Promise<void>;
  /** Reads the picture of a device; `null` while there is none. */
  image(request: { nativeId: string }): Promise<SentImage | null>;
  /** Waits for a live picture that is newer than `after`; `null` if none has come for a while. */
  nextFrame(request: { nativeId: string; after: number }): Promise<SentFrame | null>;
  /** Answers a viewer's offer of a WebRTC connection. */
  video(request: { nativeId: string; offer: string }): Promise<string>;
  callService(request: ServiceRequest): Promise<unknown>;
  answerRoute(request: RouteCall): Promise<SentAnswer>;
  /** Brings the latest value of a followed channel. The next one follows after the answer. */
  channelChanged(change: ChannelChange): Promise<void>;
  /** Brings a file of the folder of sources. The next one follows after the answer. */
  sourceChanged(change: SourceChange): Promise<void>;
  /** Begins a run of a schedule. The answer does not wait for its end. */
  runSchedule(request: RunRequest): Promise<void>;
  /** Passes the home's new settings. `isFollowed` is false if the plugin has to be reloaded for them. */
  settingsChanged(settings: HomeSettings): Promise<{ readonly isFollowed: boolean }>;
  /** Passes changes of the home to the plugin's listeners, without waiting for them. */
  homeChanged(batch: HomeBatch): Promise<void>;
  /** Finishes the accepted calls, hands over the state and releases all resources. */
  quiesce(request: { deadlineMs: number }): Promise<QuiesceResult>;
  /** Returns resources that are still open after `quiesce`. Called when the next generation runs, before this process ends. */
  findLeaks(nothing: Record<string, never>): Promise<Leftover[]>;
  /** Tests options and returns the plugin's user-facing result. */
  test(request: TrialRequest): Promise<string>;
  /** Runs a setup and returns the options to change. */
  setup(request: TrialRequest): Promise<unknown>;
  /** Answers the step of a setup that is waiting. Fails for any other step. */
  answer(request: { step: number; answer: unknown }): Promise<void>;
  /** Reports that the remote end broke a connection that the host had opened. After the answer, the host closes its end. */
  connectionLost(request: { connection: number; failure: NetworkFailure }): Promise<void>;
  /** Makes all writes to the storage fail with this reason; without a reason, permits them again. */
  refuseStorage(request: { reason?: string }): Promise<void>;
  /** The heartbeat, answered by the event loop. A missing answer means that the process hangs. */
  ping(nothing: Record<string, never>): Promise<ProcessFigures>;
}

/** The calls from a plugin's process to the host. Each call is checked against the plugin's manifest. */
export interface HostApi extends HomeHostApi, ScheduleHostApi, DiscoveryHostApi, SourcesHostApi {
  publishDevices(devices: readonly DeviceDescription[]): Promise<void>;
  updateDevices(updates: readonly DeviceUpdate[]): Promise<void>;
  announceDeviceEvent(event: DeviceEvent): Promise<void>;
  publishScenes(scenes: readonly SceneDescription[]): Promise<void>;
  /** Publishes a value. A calendar window is sent as a `PartedWindow`, after its parts. */
  publish(request: { name: string; value: unknown }): Promise<void>;
  publishCalendarPart(part: CalendarPart): Promise<void>;
  /** Publishes a value of an own channel, as JSON text. Resolves when this value or a newer one is served. */
  publishChannel(request: { channel: string; json: string }): Promise<void>;
  /** Follows a channel of another plugin from now on; its value arrives as a change. */
  followChannel(request: { channel: string }): Promise<{ isProvided: boolean }>;
  callService(request: ServiceRequest): Promise<unknown>;
  /** The address of a route with a secret in its path. */
  routeUrl(request: { path: string }): Promise<string>;
  reportDegraded(request: { reason?: string }): Promise<void>;
  showStep(step: ShownStep): Promise<void>;
  log(record: LogRecord): Promise<void>;
}

/** The network calls of a process whose network is `proxied`. The host answers them, not the module. */
export interface NetworkApi {
  lookUp(request: LookUpRequest): Promise<LookUpAnswer>;
  openConnection(request: ConnectionRequest): Promise<ConnectionAnswer>;
  /** Reports that the process closed a connection whose remote end is open, or cancelled one that is being opened. */
  closeConnection(request: { connection: number; reset: boolean }): Promise<void>;
}

/** A look-up. With a record type such as `MX` it queries DNS only; without one it uses the system's `getaddrinfo`. */
export type LookUpRequest =
  | { readonly host: string; readonly family: 0 | 4 | 6 }
  | { readonly host: string; readonly type: RecordType; readonly ttl: boolean };

export const RECORD_TYPES = [
  ...(["A", "AAAA", "CAA", "CNAME", "MX", "NAPTR", "NS", "PTR", "SOA", "SRV", "TXT"] as const),
] as const;
export type RecordType = (typeof RECORD_TYPES)[number];

export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

/** A connection to open. `connection` is a number that the process has not used before. */
export type ConnectionRequest = { readonly connection: number } & (
  | {
      readonly host: string;
      readonly port: number;
      readonly family: 0 | 4 | 6;
      readonly localAddress?: string;
    }
  | { readonly path: string }
);

export interface Endpoint {
  readonly address: string;
  readonly port: number;
  readonly family: string;
}

/** An open connection to the remote end. The process reaches it through the socket `path` if it connects within seconds. */
export interface OpenedConnection {
  readonly path: string;
  /** The two endpoints; absent for a Unix socket. */
  readonly ends?: { readonly remote: Endpoint; readonly local: Endpoint };
}

/** A network failure with the fields of the error that Node reports for a direct connection or look-up. */
export interface NetworkFailure {
  readonly message: string;
  readonly code: string;
  readonly errno?: number;
  readonly syscall?: string;
  readonly hostname?: string;
  readonly address?: string;
  readonly port?: number;
  /** The failures of the single attempts, if there were several. */
  readonly errors?: readonly NetworkFailure[];
}

/** A refused network access: a description of it, and the host to declare in the manifest. */
export interface NetworkRefusal {
  readonly reached: string;
  readonly toDeclare: string;
}

export type ConnectionAnswer =
  | { readonly opened: OpenedConnection }
  | { readonly failure: NetworkFailure }
  | { readonly refusal: NetworkRefusal };

/** The result of a look-up. `found` contains addresses, or records of the requested type. */
export type LookUpAnswer =
  | { readonly found: readonly unknown[] }
  | { readonly failure: NetworkFailure }
  | { readonly refusal: NetworkRefusal };

/** Written to standard error before the stack of an unhandled rejection. */
export const UNCAUGHT_REJECTION = "mantel: nothing caught this rejection";
/** Written to standard error before a process ends because its channel is closed. */
export const CHANNEL_CLOSED = "mantel: the channel to the host is closed";

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogRecord {
  readonly level: LogLevel;
  readonly sentence: string;
  readonly fields?: Readonly<Record<string, unknown>>;
  /** The number of records that the rate limit dropped before this one. */
  readonly dropped?: number;
}
