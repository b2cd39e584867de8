import type { TSchema } from "typebox";
import type { CalendarPart } from "./calendar.ts";
import type { HouseSettings } from "./context.ts";
import type { DeviceCommand, DeviceDescription, DeviceEvent, DeviceUpdate } from "./device.ts";
import type { Permissions } from "./permissions.ts";
import type { SceneDescription } from "./scene.ts";
import type { SetupStep, Trial } from "./trial.ts";

/** What a process needs to load one generation of a plugin. All paths are absolute. */
/** What a process can have ready before it is known which code of the plugin it is to run. */
export interface PrepareRequest {
  readonly id: string;
  /** The plugin's npm dependencies in one file, when it has any. */
  readonly vendor: string | undefined;
  /** The plugin's folder, from which packages that cannot be bundled are loaded. */
  readonly folder: string;
  /** Where compiled code of `vendor` is kept for the next process of this plugin. */
  readonly compiled: string;
  /** The host's data folder, by which a refusal tells what the plugin could have declared. */
  readonly dataFolder: string;
  /** What the manifest declares; the process keeps the plugin to it. */
  readonly permissions: Permissions;
}

export interface LoadRequest extends PrepareRequest {
  /** The plugin's own sources in one CommonJS file, with its source map beside it. */
  readonly bundle: string;
}

/** What the loaded code says of itself. Schemas are JSON Schema. */
export interface LoadResult {
  readonly options: TSchema | undefined;
  readonly state: TSchema | undefined;
  readonly trials: readonly Trial[];
}

export interface StartRequest {
  readonly config: unknown;
  readonly house: HouseSettings;
  /** State of the generation before; absent at a fresh start. */
  readonly handedOver?: unknown;
  /** The plugin's own storage folder. */
  readonly storage: string;
  /** Folders it may use, by the name in its manifest. */
  readonly folders: Readonly<Record<string, string>>;
  /** Where a debugger may attach, on loopback, while this generation works; absent means nowhere. */
  readonly inspectPort?: number;
  /** Services it may call. */
  readonly uses: readonly string[];
}

/** What a trial is given. */
export type TrialRequest = Pick<StartRequest, "config" | "house" | "uses">;

/** A step of a setup; one with a form waits for an answer. Steps count from 1. */
export interface ShownStep extends SetupStep {
  readonly step: number;
  readonly form?: TSchema;
}

export interface QuiesceResult {
  /** Absent when the plugin hands nothing over. */
  readonly state?: unknown;
  /** Accepted calls that were waited for. */
  readonly drained: number;
  readonly faults: readonly QuiesceFault[];
}

/** What of a quiesce went wrong: calls that did not end, the giving of the state, or a release. */
export const QUIESCE_STEPS = ["calls", "handOver", "release"] as const;

export const QUIESCE_FAULT_LENGTH = 100_000;

export interface QuiesceFault {
  readonly step: (typeof QUIESCE_STEPS)[number];
  /** What was thrown, with its stack, of which more than `QUIESCE_FAULT_LENGTH` characters are left out. */
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

/** Something that a plugin has opened and, after all its releases have run, not closed. */
export interface Leftover {
  readonly kind: LeftoverKind;
  /** Stack frames of where it was opened, nearest first, in lines of the sources; empty when not known. */
  readonly stack: readonly string[];
  /** The path of a file. */
  readonly path?: string;
}

export interface ProcessFigures {
  /** CPU time since the process started, in microseconds. */
  readonly cpuMicros: number;
  readonly heapBytes: number;
  readonly loopLagP99Ms: number;
}

/**
 * What the host asks of a plugin's process. Each method crosses a process boundary, so arguments and
 * results are plain data, and every call is answered within its deadline or fails with
 * `deadline_passed`.
 */
export interface PluginApi {
  /** Imports the code and runs its top level, but starts nothing. */
  /** Loads the packages of the plugin ahead. The `load` that follows asks for the same, and for a bundle. */
  prepare(request: PrepareRequest): Promise<void>;
  load(request: LoadRequest): Promise<LoadResult>;
  /** Opens what the next generation listens to, while the one before still works. */
  connect(request: StartRequest): Promise<void>;
  start(request: StartRequest): Promise<void>;
  command(request: { nativeId: string; command: DeviceCommand; commandId: string }): Promise<void>;
  activateScene(request: { nativeId: string; activationId: string }): Promise<void>;
  callService(request: { name: string; input: unknown }): Promise<unknown>;
  /** Finishes accepted calls, hands over the state, and releases everything. */
  quiesce(request: { deadlineMs: number }): Promise<QuiesceResult>;
  /** What is open after `quiesce` has ended. Asked once the next generation works, and before this one ends. */
  findLeftovers(nothing: Record<string, never>): Promise<Leftover[]>;
  /** Tries options, and says what was found. */
  test(request: TrialRequest): Promise<string>;
  /** Leads through a setup, and gives what it changes in the options. */
  setup(request: TrialRequest): Promise<unknown>;
  /** Answers the step of a setup that asks; other steps do not wait for it any more. */
  answer(request: { step: number; answer: unknown }): Promise<void>;
  /** Answered by the event loop: silence means that the process hangs. */
  ping(nothing: Record<string, never>): Promise<ProcessFigures>;
}

/** What a plugin's process asks of the host. Each call is checked against the plugin's manifest. */
export interface HostApi {
  publishDevices(devices: readonly DeviceDescription[]): Promise<void>;
  updateDevices(updates: readonly DeviceUpdate[]): Promise<void>;
  announceDeviceEvent(event: DeviceEvent): Promise<void>;
  publishScenes(scenes: readonly SceneDescription[]): Promise<void>;
  /** A calendar window comes as a `PartedWindow`, after the parts that it names. */
  publish(request: { name: string; value: unknown }): Promise<void>;
  publishCalendarPart(part: CalendarPart): Promise<void>;
  callService(request: { name: string; input: unknown }): Promise<unknown>;
  reportDegraded(request: { reason?: string }): Promise<void>;
  showStep(step: ShownStep): Promise<void>;
  log(record: LogRecord): Promise<void>;
}

/** Written to standard error before the stack of a rejection that nothing caught. */
export const UNCAUGHT_REJECTION = "mantel: nothing caught this rejection";
/** Written there before a process ends because its channel is closed. */
export const CHANNEL_CLOSED = "mantel: the channel to the host is closed";

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogRecord {
  readonly level: LogLevel;
  readonly sentence: string;
  readonly fields?: Readonly<Record<string, unknown>>;
  /** Records before this one that the process left out, because there were too many. */
  readonly dropped?: number;
}
