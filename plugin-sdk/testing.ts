import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type {
  CommandBeyond,
  DeviceCommand,
  DeviceDescription,
  DeviceEvent,
  DeviceState,
} from "./device.ts";
import type { HomeSettings } from "./home.ts";
import { type Declared, requireProvided } from "./manifest-rights.ts";
import type { Manifest } from "./manifest.ts";
import type { Plugin } from "./plugin.ts";
import type { LogRecord, QuiesceFault, SentAnswer, StartRequest } from "./protocol.ts";
import { type RouteDefinition, routeKey, type RouteRequest } from "./route.ts";
import { Runner } from "./runtime/runner.ts";
import type { SceneDescription } from "./scene.ts";
import { type CheckedImage, parseImage } from "./sent-image.ts";
import {
  type ProvidedService,
  type Publications,
  type ServiceDefinition,
  type ServiceInput,
  serviceKey,
  type ServiceOutput,
} from "./service.ts";
import type { SourceChange } from "./sources.ts";
import { FakeHome, type FakeHomeOptions } from "./testing-home.ts";
import { MemoryHost } from "./testing-host.ts";
import { declaredIn } from "./testing-manifest.ts";
import type { FakeNetwork } from "./testing-network.ts";
import { FakeClock } from "./testing-schedule.ts";
import { checkedCall } from "./testing-service.ts";
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
  /**
   * The manifest: the address of the plugin's `package.json`, or the content of `mantel` in it. Calls that it does not
   * declare are refused as by the host. Absent means the `package.json` of the folder in which the test runs; if that has no
   * `mantel`, everything is permitted.
   */
  readonly manifest?: URL | object;
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
  /** The time of a new `clock`; absent means the present. */
  readonly now?: Date;
  /** The clock of a plugin that has stopped, with its timers. */
  readonly clock?: FakeClock;
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
   * Waits up to three seconds for a live picture newer than the one with the number `after`; `undefined` if none comes.
   * @throws the error that ended the live picture
   */
  nextFrame(
    nativeId: string,
    after?: number,
  ): Promise<(CheckedImage & { number: number }) | undefined>;
  /** Returns the answer to the offer of a WebRTC connection. */
  video(nativeId: string, offer: string): Promise<string>;
  /**
   * Calls a service of the plugin. Input and answer are checked by its definition, as by the host.
   * @throws MantelError `invalid` for a wrong input or without the manifest's `provides`, `service_unavailable` for a wrong answer or without a provider;
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
  const declared = declaredIn(options.manifest);
  const storage = options.storage ?? (await mkdtemp(join(tmpdir(), "mantel-plugin-")));
  const removeStorage = async (): Promise<void> => {
    if (options.storage === undefined) await rm(storage, { recursive: true, force: true });
  };
  const { timeZone = TIME_ZONE } = options;
  const home = new FakeHome(options.home ?? {}, declared);
  const clock = options.clock ?? new FakeClock(options.now ?? new Date(), timeZone);
  const host = new MemoryHost(plugin, options, { home, clock, declared });
  const runner = new Runner(host.origins.of(plugin), host);
  host.attach(runner);
  clock.attach((request) => runner.runSchedule(request), timeZone);
  home.attach((batch) => runner.homeChanged(structuredClone(batch)));
  const request = startRequest(options, { config, storage }, declared?.manifest);
  let settings = request.home;
  const started = await runner
    .start(declared?.id ?? "test", request)
    .catch(async (error: unknown) => {
      clock.detach();
      await removeStorage();
      throw error;
    });
  await clock.advance(0); // runs that became due while no plugin ran
  return {
    ...requestsTo(runner, started.services, declared),
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
      clock.detach();
      const { state, faults } = await runner.quiesce({ deadlineMs: 5_000 });
      await removeStorage();
      if (faults.length > 0) throw new Error(faults.map(sentenceOf).join("; "));
      return state;
    },
  };
}

/** The requests that a test makes to the plugin. */
function requestsTo(
  runner: Runner,
  services: Awaited<ReturnType<Runner["start"]>>["services"],
  declared: Declared | undefined,
): Pick<
  RunningTest,
  "command" | "activateScene" | "image" | "nextFrame" | "video" | "request" | "call"
> {
  const provided = new Map(services.map((each) => [serviceKey(each), each]));
  let calls = 0;
  return {
    command: (nativeId, command, beyond) =>
      runner.command({
        nativeId,
        command,
        commandId: `command-${++calls}`,
        ...(beyond ? { beyond: { parts: {}, extra: {}, ...beyond } } : {}),
      }),
    activateScene: (nativeId) =>
      runner.activateScene({ nativeId, activationId: `activation-${++calls}` }),
    async image(nativeId) {
      const sent = await runner.image({ nativeId });
      return sent === null ? undefined : parseImage(sent);
    },
    async nextFrame(nativeId, after = 0) {
      const sent = await runner.nextFrame({ nativeId, after });
      return sent === null ? undefined : { ...parseImage(sent), number: sent.number };
    },
    video: (nativeId, offer) => runner.video({ nativeId, offer }),
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
      if (declared) requireProvided(declared, name);
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
  manifest: Manifest | undefined,
): StartRequest {
  const { folders = {}, services = [], channels = {}, timeZone = TIME_ZONE } = options;
  const { uses = [], permissions: { folders: declared = [] } = {} } = manifest ?? {};
  const given = [
    ...services.map(({ definition }) => serviceKey(definition)),
    ...Object.keys(channels),
  ];
  const permitted = Object.entries(folders).filter(([name]) => declared.includes(name));
  return {
    ...place,
    folders: manifest ? Object.fromEntries(permitted) : folders,
    uses: manifest ? uses : given,
    home: { locale: "en-GB", timeZone, pollSeconds: 30 },
    ...(options.handedOver === undefined ? {} : { handedOver: options.handedOver }),
  };
}
