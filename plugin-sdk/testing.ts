import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Errors } from "typebox/schema";
import type { CalendarPart, PartedWindow } from "./calendar.ts";
import type {
  CommandBeyond,
  DeviceCommand,
  DeviceDescription,
  DeviceEvent,
  DeviceState,
  DeviceUpdate,
} from "./device.ts";
import { MantelError } from "./errors.ts";
import type { HomeSettings } from "./home.ts";
import type { Plugin } from "./plugin.ts";
import type {
  ChannelChange,
  HostApi,
  LogRecord,
  QuiesceFault,
  SentAnswer,
  ServiceRequest,
  StartRequest,
} from "./protocol.ts";
import { type RouteDefinition, routeKey, type RouteRequest } from "./route.ts";
import type { HostLink } from "./runtime/host-link.ts";
import { Runner } from "./runtime/runner.ts";
import type { SceneDescription } from "./scene.ts";
import { type CheckedImage, parseImage } from "./sent-image.ts";
import {
  type ProvidedService,
  type PublicationName,
  type Publications,
  type ServiceDefinition,
  type ServiceInput,
  serviceKey,
  type ServiceOutput,
} from "./service.ts";
import type { SourceChange } from "./sources.ts";
import { checkDevices, updated } from "./testing-devices.ts";
import { FakeHome, type FakeHomeOptions } from "./testing-home.ts";
import { answerSearch, type FakeNetwork } from "./testing-network.ts";
import { FakeClock } from "./testing-schedule.ts";
import { callFake, checkedCall } from "./testing-service.ts";
import { completeOptions } from "./testing-trials.ts";

export {
  type SetUpOptions,
  type SetUpResult,
  setUp,
  testOptions,
  type TrialTestOptions,
} from "./testing-trials.ts";
export type { FakeClock } from "./testing-schedule.ts";
export type { FakeDevice } from "./testing-device.ts";
export type { FakeHome, FakeHomeOptions, RecordedCommand } from "./testing-home.ts";

const TIME_ZONE = "Europe/Berlin";

/** The options of `startPlugin`. */
export interface TestHostOptions {
  /** The plugin's options. Defaults of its schema are filled in, and options that do not fit are refused. */
  readonly config?: unknown;
  /** The value of `ctx.handedOver`. */
  readonly handedOver?: unknown;
  /** Fakes of the services that the plugin calls, each as `provide(definition, handler)`. */
  readonly services?: readonly ProvidedService[];
  /**
   * The channels of other plugins that the plugin reads, such as `news/headlines`, with their first values;
   * `undefined` for a channel without one.
   */
  readonly channels?: Readonly<Record<string, unknown>>;
  /** The files behind `ctx.sources`, by name: compiled code (CommonJS) that requires `mantel`. */
  readonly sources?: Readonly<Record<string, string>>;
  /** The paths that `ctx.folder` returns, by name. */
  readonly folders?: Readonly<Record<string, string>>;
  readonly timeZone?: string;
  /** The home behind `ctx.home`; absent means one without devices. */
  readonly home?: FakeHomeOptions;
  /** The network behind `ctx.discover`; absent means one without devices. */
  readonly network?: FakeNetwork;
  /** The time of `clock` at the start; absent means the present. */
  readonly now?: Date;
  /** A folder behind `ctx.storage`, which the next start can use too; absent means one that is deleted at the end. */
  readonly storage?: string;
}

/** A plugin that runs in the test's own process, with everything that it sent to the host. */
export interface RunningTest {
  readonly devices: ReadonlyMap<string, DeviceDescription>;
  readonly scenes: readonly SceneDescription[];
  /** All device events, oldest first. */
  readonly events: readonly DeviceEvent[];
  /** The last value of each channel of the plugin, by name. Values that its schema refuses are in `logs`. */
  readonly published: Partial<Publications> & { readonly [channel: string]: unknown };
  readonly logs: readonly LogRecord[];
  /** The home behind `ctx.home`, which the test can change. */
  readonly home: FakeHome;
  /** The clock behind `ctx.schedule`, which only the test moves. */
  readonly clock: FakeClock;
  /** The last reason passed to `status.degraded`; `undefined` after `status.ok`. */
  readonly degraded: string | undefined;
  /** Returns the state of one device. @throws MantelError `device_unknown` */
  state(nativeId: string): DeviceState;
  /**
   * Sends a command to the plugin, as the host does; `beyond` is for parts and extras. The command is not validated
   * here.
   */
  command(nativeId: string, command: DeviceCommand, beyond?: Partial<CommandBeyond>): Promise<void>;
  activateScene(nativeId: string): Promise<void>;
  /** Returns the checked picture of a device; `undefined` while there is none. @throws MantelError `not_found` */
  image(nativeId: string): Promise<CheckedImage | undefined>;
  /**
   * Calls a service of the plugin. Input and answer are checked by its definition, as by the host.
   * @throws MantelError `invalid` for a wrong input, `service_unavailable` for a wrong answer or without a provider;
   * the handler's error
   */
  call<D extends ServiceDefinition>(service: D, input: ServiceInput<D>): Promise<ServiceOutput<D>>;
  /** Sends a request to a route of the plugin, which is not checked here, and returns the handler's answer. */
  request<D extends RouteDefinition>(
    route: D,
    request?: Partial<RouteRequest<D>>,
  ): Promise<SentAnswer>;
  /** Changes a channel of another plugin; `undefined` means that it is gone. The plugin has it when this returns. */
  feedChannel(name: string, value: unknown): void;
  /** Saves a file behind `ctx.sources`, or deletes it. The plugin has it when this returns. */
  feedSource(change: SourceChange): void;
  /** The files that the plugin wrote with `ctx.sources.describe`, by name. */
  readonly described: Readonly<Record<string, string>>;
  /** Changes settings of the home, such as `locale`. False if the host would reload the plugin for that. */
  changeSettings(changed: Partial<HomeSettings>): boolean;
  /** Stops the plugin and returns the state that it hands over. Throws if a step of that failed. */
  stop(): Promise<unknown>;
}

/**
 * Starts a plugin in this process with an in-memory host, for a plugin's own tests. Unlike the real host, it has
 * no limits, no deadlines and no isolation.
 */
export async function startPlugin(
  plugin: Plugin,
  options: TestHostOptions = {},
): Promise<RunningTest> {
  const config = completeOptions(plugin, options.config);
  const storage = options.storage ?? (await mkdtemp(join(tmpdir(), "mantel-plugin-")));
  const removeStorage = async (): Promise<void> => {
    if (options.storage === undefined) await rm(storage, { recursive: true, force: true });
  };
  const home = new FakeHome(options.home ?? {});
  const clock = new FakeClock(options.now ?? new Date(), options.timeZone ?? TIME_ZONE);
  const host = new MemoryHost(plugin, options, { home, clock });
  const runner = new Runner(plugin, host);
  host.onChannelChanged = (change) => runner.channelChanged(change);
  host.onSourceChanged = (change) => runner.sourceChanged(change);
  clock.attach((request) => runner.runSchedule(request));
  home.attach((batch) => runner.homeChanged(structuredClone(batch)));
  const request = startRequest(options, { config, storage });
  let settings = request.home;
  const started = await runner.start("test", request).catch(async (error: unknown) => {
    await removeStorage();
    throw error;
  });
  let calls = 0;
  return {
    ...requestsTo(runner, started.services),
    devices: host.devices,
    events: host.events,
    published: host.published,
    logs: host.logs,
    home,
    clock,
    get scenes() {
      return host.scenes;
    },
    get degraded() {
      return host.degraded;
    },
    state: (nativeId) => host.device(nativeId).state,
    command: (nativeId, command, beyond) =>
      runner.command({
        nativeId,
        command,
        commandId: `command-${++calls}`,
        ...(beyond ? { beyond: { parts: {}, extra: {}, ...beyond } } : {}),
      }),
    activateScene: (nativeId) =>
      runner.activateScene({ nativeId, activationId: `activation-${++calls}` }),
    feedChannel(name, value) {
      const json = value === undefined ? {} : { json: JSON.stringify(value) };
      runner.channelChanged({ channel: name, ...json });
    },
    feedSource: (change) => runner.sourceChanged(change),
    described: host.described,
    changeSettings(changed) {
      settings = { ...settings, ...changed };
      return runner.settingsChanged(settings);
    },
    async stop() {
      const { state, faults } = await runner.quiesce({ deadlineMs: 5_000 });
      await removeStorage();
      if (faults.length > 0) throw new Error(faults.map(sentenceOf).join("; "));
      return state;
    },
  };
}

/** The requests that a test makes to the plugin: pictures, routes and services. */
function requestsTo(
  runner: Runner,
  services: Awaited<ReturnType<Runner["start"]>>["services"],
): Pick<RunningTest, "image" | "request" | "call"> {
  const provided = new Map(services.map((each) => [serviceKey(each), each]));
  return {
    async image(nativeId) {
      const sent = await runner.image({ nativeId });
      return sent === null ? undefined : parseImage(sent);
    },
    request: (
      route,
      { params = {}, query = {}, body, bytes, contentType = "", headers = {} } = {},
    ) =>
      runner.answerRoute({
        route: routeKey(route),
        params,
        query,
        body: body ?? (route.bodyOptional ? {} : undefined),
        contentType,
        headers,
        ...(bytes ? { bytes: Buffer.from(bytes).toString("base64") } : {}),
      }),
    async call(service, input) {
      const name = serviceKey(service);
      const definition = provided.get(name);
      const work = () => runner.callService({ name, input });
      return (await (definition ? checkedCall(definition, input, work) : work())) as never;
    },
  };
}

function sentenceOf({ step, error }: QuiesceFault): string {
  return step === "release" ? `a release failed: ${error}` : error;
}

function startRequest(
  options: TestHostOptions,
  place: Pick<StartRequest, "config" | "storage">,
): StartRequest {
  const { folders = {}, services = [], channels = {}, timeZone = TIME_ZONE } = options;
  return {
    ...place,
    folders,
    uses: [...services.map(({ definition }) => serviceKey(definition)), ...Object.keys(channels)],
    home: { locale: "en-GB", timeZone, pollSeconds: 30 },
    ...(options.handedOver === undefined ? {} : { handedOver: options.handedOver }),
  };
}

class MemoryHost implements HostLink {
  readonly devices = new Map<string, DeviceDescription>();
  readonly published: Record<string, unknown> = {};
  readonly logs: LogRecord[] = [];
  readonly events: DeviceEvent[] = [];
  scenes: readonly SceneDescription[] = [];
  degraded: string | undefined;
  readonly described: Record<string, string> = {};
  onChannelChanged: (change: ChannelChange) => void = () => undefined;
  onSourceChanged: (change: SourceChange) => void = () => undefined;
  readonly #sources: Readonly<Record<string, string>>;
  readonly #plugin: Plugin;
  readonly #services: readonly ProvidedService[];
  readonly #channels: Readonly<Record<string, unknown>>;
  readonly #home: FakeHome;
  readonly #clock: FakeClock;
  readonly #network: FakeNetwork;
  /** All received parts of calendar windows. */
  readonly #parts: CalendarPart[] = [];

  constructor(
    plugin: Plugin,
    { services = [], channels = {}, network = {}, sources = {} }: TestHostOptions,
    { home, clock }: { readonly home: FakeHome; readonly clock: FakeClock },
  ) {
    this.#plugin = plugin;
    this.#services = services;
    this.#channels = channels;
    this.#home = home;
    this.#clock = clock;
    this.#network = network;
    this.#sources = sources;
  }

  device(nativeId: string): DeviceDescription {
    const device = this.devices.get(nativeId);
    if (!device)
      throw new MantelError("device_unknown", `no published device has the native id ${nativeId}`);
    return device;
  }

  call<M extends keyof HostApi>(
    method: M,
    input: Parameters<HostApi[M]>[0],
  ): Promise<Awaited<ReturnType<HostApi[M]>>> {
    return this.#carryOut(method, input) as Promise<Awaited<ReturnType<HostApi[M]>>>;
  }

  notify<M extends keyof HostApi>(method: M, input: Parameters<HostApi[M]>[0]): void {
    void this.#carryOut(method, input);
  }

  async #carryOut(method: keyof HostApi, data: unknown): Promise<unknown> {
    const input = structuredClone(data) as never;
    switch (method) {
      case "publishDevices":
        return this.#replace(input);
      case "updateDevices":
        return this.#update(input);
      case "announceDeviceEvent":
        return void this.events.push(input);
      case "publishScenes":
        this.scenes = input;
        return undefined;
      case "publish":
        return this.#publish(input);
      case "publishCalendarPart":
        return void this.#parts.push(input);
      case "publishChannel":
        return this.#publishChannel(input);
      case "followChannel":
        return this.#followChannel(input);
      case "callService":
        return this.#callService(input);
      case "routeUrl":
        return `/api/v1/plugins/test/hooks/secret${(input as { path: string }).path}`;
      case "reportDegraded":
        this.degraded = (input as { reason?: string }).reason;
        return undefined;
      case "log":
        this.logs.push(input);
        return undefined;
      case "setSchedule":
      case "cancelSchedule":
      case "resumeSchedules":
        return this.#clock[method](input);
      case "discoverMdns":
      case "discoverSsdp":
        return answerSearch(this.#network, method, input);
      case "followSources":
        for (const [name, code] of Object.entries(this.#sources)) {
          const source = { hash: code, code, map: "" };
          this.onSourceChanged({ name, kind: "compiled", source });
        }
        return undefined;
      case "describeSources":
        return void Object.assign(this.described, (input as { files: object }).files);
      case "showStep": // setups do not run here
        return undefined;
      default:
        return this.#home[method](input);
    }
  }

  #replace(devices: readonly DeviceDescription[]): void {
    checkDevices(devices);
    this.devices.clear();
    for (const device of devices) this.devices.set(device.nativeId, device);
  }

  #update(updates: readonly DeviceUpdate[]): void {
    for (const update of updates) {
      this.devices.set(update.nativeId, updated(this.device(update.nativeId), update));
    }
  }

  #publish({ name, value }: { name: PublicationName; value: never }): void {
    this.published[name] = name === "calendar.window" ? this.#whole(value) : value;
  }

  #publishChannel({ channel, json }: { channel: string; json: string }): void {
    const value: unknown = JSON.parse(json);
    const [isValid, faults] = Errors(this.#plugin.channels?.[channel]?.schema ?? {}, value);
    if (isValid) {
      this.published[channel] = value;
      return;
    }
    const errors = faults.map(({ instancePath, message }) => ({
      pointer: instancePath,
      detail: message,
    }));
    const [first] = errors;
    const sentence = `the value of ${channel} is wrong: ${first?.pointer} ${first?.detail}`;
    const fields = { channel, error: sentence };
    this.logs.push({ level: "warn", sentence: "refused a value of a channel", fields });
    throw new MantelError("invalid", sentence, { errors });
  }

  #followChannel({ channel }: { channel: string }): { isProvided: boolean } {
    const value = this.#channels[channel];
    if (value === undefined) return { isProvided: false };
    queueMicrotask(() => this.onChannelChanged({ channel, json: JSON.stringify(value) }));
    return { isProvided: true };
  }

  #whole({ parts, ...rest }: PartedWindow): Publications["calendar.window"] {
    const byHash = new Map(this.#parts.map(({ hash, events }) => [hash, events]));
    return { ...rest, events: parts.flatMap((hash) => byHash.get(hash) ?? []) };
  }

  async #callService({ name, input }: ServiceRequest): Promise<unknown> {
    return callFake(this.#services, name, input);
  }
}
