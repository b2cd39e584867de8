import { Errors } from "typebox/schema";
import type { CalendarPart, PartedWindow } from "./calendar.ts";
import type { DeviceDescription, DeviceEvent, DeviceUpdate } from "./device.ts";
import type { DiscoveredDevice, DiscoveredService, DiscoveryRequest } from "./discovery.ts";
import { MantelError } from "./errors.ts";
import type { HomeHostApi } from "./home-protocol.ts";
import {
  type Declared,
  requireBridge,
  requirePublication,
  requireSearch,
} from "./manifest-rights.ts";
import { parseScenes } from "./parse-scenes.ts";
import type { Plugin } from "./plugin.ts";
import type { ChannelChange, HostApi, LogRecord, ServiceRequest } from "./protocol.ts";
import type { HostLink } from "./runtime/host-link.ts";
import type { SceneDescription } from "./scene.ts";
import type { ScheduleHostApi } from "./schedule-protocol.ts";
import type { ProvidedService, Publications } from "./service.ts";
import type { SourceChange } from "./sources.ts";
import { checkDevices, updated } from "./testing-devices.ts";
import type { FakeHome } from "./testing-home.ts";
import { answerSearch, type FakeNetwork } from "./testing-network.ts";
import { UpdateOrigins } from "./testing-origins.ts";
import type { FakeClock } from "./testing-schedule.ts";
import { callFake } from "./testing-service.ts";
import { invalid } from "./validate.ts";
import { toValidationErrors } from "./validation-errors.ts";

interface MemoryHostOptions {
  readonly services?: readonly ProvidedService[];
  readonly channels?: Readonly<Record<string, unknown>>;
  readonly network?: FakeNetwork;
  readonly sources?: Readonly<Record<string, string>>;
}

/** The process that gets changes. */
interface Receiver {
  channelChanged(change: ChannelChange): void;
  sourceChanged(change: SourceChange): void;
}

interface Parts {
  readonly home: FakeHome;
  readonly clock: FakeClock;
  readonly declared: Declared | undefined;
}

type OwnHostApi = Omit<HostApi, keyof HomeHostApi | keyof ScheduleHostApi>;

/** A host in memory for one plugin. It answers the plugin's calls, except those to its clock and its home. */
export class MemoryHost implements HostLink, OwnHostApi {
  readonly devices = new Map<string, DeviceDescription>();
  readonly published: Record<string, unknown> = {};
  readonly logs: LogRecord[] = [];
  readonly events: DeviceEvent[] = [];
  scenes: readonly SceneDescription[] = [];
  degraded: string | undefined;
  readonly described: Record<string, string> = {};
  readonly origins = new UpdateOrigins();
  #runner: Receiver | undefined;
  readonly #plugin: Plugin;
  readonly #options: MemoryHostOptions;
  readonly #home: FakeHome;
  readonly #clock: FakeClock;
  /** Absent without a manifest; then everything is permitted. */
  readonly #declared: Declared | undefined;
  /** All received parts of calendar windows. */
  readonly #parts: CalendarPart[] = [];

  constructor(plugin: Plugin, options: MemoryHostOptions, { home, clock, declared }: Parts) {
    this.#plugin = plugin;
    this.#options = options;
    this.#home = home;
    this.#clock = clock;
    this.#declared = declared;
  }

  /** Sends changes to this runner. */
  attach(runner: Receiver): void {
    this.#runner = runner;
  }

  get #id(): string {
    return this.#declared?.id ?? "test";
  }

  /** @throws MantelError `device_unknown` */
  device(nativeId: string): DeviceDescription {
    const device = this.devices.get(nativeId);
    if (!device)
      throw new MantelError("device_unknown", `no published device has the native id ${nativeId}`);
    return device;
  }

  async call<M extends keyof HostApi>(
    method: M,
    input: Parameters<HostApi[M]>[0],
  ): Promise<Awaited<ReturnType<HostApi[M]>>> {
    const owners: readonly object[] = [this, this.#clock, this.#home];
    const owner = owners.find((each) => method in each) as HostApi;
    return (await owner[method](structuredClone(input) as never)) as never;
  }

  notify<M extends keyof HostApi>(method: M, input: Parameters<HostApi[M]>[0]): void {
    if (method === "updateDevices") void this.updateDevices(input as readonly DeviceUpdate[]);
    else void this.call(method, input);
  }

  async publishDevices(devices: readonly DeviceDescription[]): Promise<void> {
    if (this.#declared) requireBridge(this.#declared);
    checkDevices(devices);
    this.devices.clear();
    for (const device of devices) this.devices.set(device.nativeId, device);
  }

  async updateDevices(updates: readonly DeviceUpdate[]): Promise<void> {
    await Promise.all(updates.map((update) => this.#update(update)));
  }

  async announceDeviceEvent(event: DeviceEvent): Promise<void> {
    this.events.push(event);
  }

  async publishScenes(scenes: readonly SceneDescription[]): Promise<void> {
    if (this.#declared) requireBridge(this.#declared);
    this.scenes = parseScenes(this.#id, scenes);
  }

  async publish({ name, value }: { name: string; value: unknown }): Promise<void> {
    if (this.#declared) requirePublication(this.#declared, name);
    this.published[name] = name === "calendar.window" ? this.#whole(value as PartedWindow) : value;
  }

  async publishCalendarPart(part: CalendarPart): Promise<void> {
    this.#parts.push(part);
  }

  async publishChannel({ channel, json }: { channel: string; json: string }): Promise<void> {
    const value: unknown = JSON.parse(json);
    const schema = this.#plugin.channels?.[channel]?.schema ?? {};
    const [isValid, faults] = Errors(schema, value);
    if (isValid) {
      this.published[channel] = value;
      return;
    }
    const what = `the value of ${this.#id}/${channel}`;
    const error = invalid(what, toValidationErrors(schema, value, faults));
    const fields = { channel, error: error.message };
    this.logs.push({ level: "warn", sentence: "refused a value of a channel", fields });
    throw error;
  }

  async followChannel({ channel }: { channel: string }): Promise<{ isProvided: boolean }> {
    const value = this.#options.channels?.[channel];
    if (value === undefined) return { isProvided: false };
    queueMicrotask(() => this.#runner?.channelChanged({ channel, json: JSON.stringify(value) }));
    return { isProvided: true };
  }

  async callService({ name, input }: ServiceRequest): Promise<unknown> {
    return callFake(this.#options.services ?? [], name, input);
  }

  async routeUrl({ path }: { path: string }): Promise<string> {
    return `/api/v1/plugins/${this.#id}/hooks/secret${path}`;
  }

  async reportDegraded({ reason }: { reason?: string }): Promise<void> {
    this.degraded = reason;
  }

  /** Does nothing, because setups do not run here. */
  async showStep(): Promise<void> {}

  async log(record: LogRecord): Promise<void> {
    this.logs.push(record);
  }

  async discoverMdns(request: DiscoveryRequest): Promise<readonly DiscoveredService[]> {
    if (this.#declared) requireSearch(this.#declared);
    return answerSearch(this.#options.network ?? {}, "discoverMdns", request);
  }

  async discoverSsdp(request: DiscoveryRequest): Promise<readonly DiscoveredDevice[]> {
    if (this.#declared) requireSearch(this.#declared);
    return answerSearch(this.#options.network ?? {}, "discoverSsdp", request);
  }

  async followSources(): Promise<void> {
    for (const [name, code] of Object.entries(this.#options.sources ?? {})) {
      this.#runner?.sourceChanged({
        name,
        kind: "compiled",
        source: { hash: code, code, map: "" },
      });
    }
  }

  async describeSources({ files }: { files: Readonly<Record<string, string>> }): Promise<void> {
    Object.assign(this.described, files);
  }

  async #update(update: DeviceUpdate): Promise<void> {
    try {
      const device = this.device(update.nativeId);
      this.devices.set(device.nativeId, updated(device, structuredClone(update)));
    } catch (error) {
      this.origins.explain(error, update);
      throw error;
    }
  }

  #whole({ parts, ...rest }: PartedWindow): Publications["calendar.window"] {
    const byHash = new Map(this.#parts.map(({ hash, events }) => [hash, events]));
    return { ...rest, events: parts.flatMap((hash) => byHash.get(hash) ?? []) };
  }
}
