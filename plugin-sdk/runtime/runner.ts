import { setMaxListeners } from "node:events";
import type { Log, PluginContext } from "../context.ts";
import { withDeadline } from "../deadline.ts";
import type { SentFrame, SentImage } from "../device-image.ts";
import type { DeviceUpdate } from "../device.ts";
import { DisposeScope } from "../dispose.ts";
import { MantelError } from "../errors.ts";
import type { HomeBatch } from "../home-protocol.ts";
import type { HomeSettings } from "../home.ts";
import { boundedSentence } from "../log-record.ts";
import type { Plugin, RunningPlugin } from "../plugin.ts";
import {
  type ChannelChange,
  type PluginApi,
  QUIESCE_FAULT_LENGTH,
  type QuiesceFault,
  type QuiesceResult,
  type SentAnswer,
  type StartRequest,
  type StartResult,
} from "../protocol.ts";
import type { Begin } from "../rpc/peer.ts";
import type { RunRequest } from "../schedule-protocol.ts";
import { toSentImage } from "../sent-image.ts";
import type { SourceChange } from "../sources.ts";
import { RuntimeChannels } from "./channels.ts";
import { createDiscover } from "./discover.ts";
import { Followers } from "./followers.ts";
import { createHome } from "./home.ts";
import type { HostLink } from "./host-link.ts";
import { LiveFrames } from "./live-frames.ts";
import { LiveSettings } from "./live-settings.ts";
import { createLog } from "./log.ts";
import { rejectOldNames } from "./old-names.ts";
import { PrestartHost } from "./prestart-host.ts";
import { freeze } from "./primordials.ts";
import { createPublish } from "./publishing.ts";
import { RuntimeRoutes } from "./routes.ts";
import { Schedules } from "./schedule.ts";
import { createCall, RuntimeServices, undeclared } from "./services.ts";
import { RuntimeSources } from "./sources.ts";
import { createStorage } from "./storage.ts";

/** Minimum time for `handOver`, even if waiting for the calls has used up the deadline. */
const HAND_OVER_MS = 250;
/** Updates per message. The host handles this many in one or two milliseconds. */
const UPDATES_AT_ONCE = 200;

/** Runs one generation of a plugin: creates its context, tracks its calls and stops it. */
export class Runner {
  readonly #host: PrestartHost;
  readonly #log: Log;
  readonly #plugin: Plugin;
  readonly #followers: Followers;
  readonly #schedules: Schedules;
  readonly #sources = new RuntimeSources();
  readonly #frames: LiveFrames;
  readonly #scope = new DisposeScope();
  readonly #ended = new AbortController();
  readonly #accepted = new Set<Promise<unknown>>();
  /** Set with the first context. */
  #channels: RuntimeChannels | undefined;
  /** Set with the first context. */
  #settings: LiveSettings | undefined;
  #updates: DeviceUpdate[] = [];
  #running: RunningPlugin<unknown> = {};
  #hasFailedToRest = false;
  #services = new RuntimeServices();
  #routes = new RuntimeRoutes();
  /** The pending or settled result of `connect`. */
  #connected: Promise<unknown> | undefined;

  constructor(plugin: Plugin, host: HostLink) {
    setMaxListeners(0, this.#ended.signal); // each timer of the plugin that ends with it listens
    this.#plugin = plugin;
    this.#host = new PrestartHost(host);
    this.#log = createLog(this.#host);
    this.#frames = new LiveFrames(this.#log);
    this.#followers = new Followers({
      host: this.#host,
      log: this.#log,
      accept: (work) => this.#accept(work),
    });
    this.#schedules = new Schedules({
      host: this.#host,
      log: this.#log,
      accept: (work) => this.#accept(work),
    });
  }

  /** Runs the plugin's `connect` before its start. If it fails, everything it opened is closed. */
  async connect(id: string, request: StartRequest): Promise<void> {
    this.#connected = this.#connect(id, request);
    await this.#connected;
  }

  async #connect(id: string, request: StartRequest): Promise<unknown> {
    const ctx = { ...this.#context(id, request), handedOver: undefined };
    rejectOldNames(ctx);
    freeze(ctx);
    try {
      return await this.#plugin.connect?.(ctx);
    } catch (error) {
      await this.#scope.dispose();
      throw error;
    }
  }

  async start(id: string, request: StartRequest): Promise<StartResult> {
    const started = await this.#begin(id, request);
    this.#flush();
    this.#followers.started();
    this.#schedules.started();
    this.#running = started;
    return { services: this.#services.definitions, routes: this.#routes.definitions };
  }

  /** Runs the plugin's `start`. If it fails, everything it opened is closed. */
  async #begin(id: string, request: StartRequest): Promise<RunningPlugin<unknown>> {
    try {
      this.#connected ??= this.#connect(id, request);
      const connected = await this.#connected;
      this.#flush(); // updates from `connect` are dropped
      this.#host.startTelling();
      const started = await this.#plugin.start(this.#context(id, request), connected);
      const running = (started ?? {}) as RunningPlugin<unknown>;
      this.#services = new RuntimeServices(running.services);
      this.#routes = new RuntimeRoutes(running.routes);
      return running;
    } catch (error) {
      this.#ended.abort();
      this.#followers.end();
      await this.#scope.dispose();
      throw error;
    }
  }

  command(request: Input<"command">, begin?: Begin): Promise<void> {
    return this.#accept(async () => {
      await begin?.();
      if (!this.#running.command)
        throw new MantelError("invalid", "the bridge does not accept commands");
      const { nativeId, command, commandId, beyond = { parts: {}, extra: {} } } = request;
      await this.#running.command(nativeId, command, commandId, beyond);
    });
  }

  activateScene({ nativeId, activationId }: Input<"activateScene">, begin?: Begin): Promise<void> {
    return this.#accept(async () => {
      await begin?.();
      if (!this.#running.activateScene) {
        throw new MantelError("invalid", "the bridge does not support scenes");
      }
      await this.#running.activateScene(nativeId, activationId);
    });
  }

  image({ nativeId }: Input<"image">, begin?: Begin): Promise<SentImage | null> {
    return this.#accept(async () => {
      await begin?.();
      const image = await this.#running.image?.(nativeId);
      return image === undefined ? null : toSentImage(image);
    });
  }

  /** Not one of the calls that `quiesce` waits for: it ends them instead. */
  async nextFrame({ nativeId, after }: Input<"nextFrame">): Promise<SentFrame | null> {
    const follow = this.#running.frames?.bind(this.#running);
    if (!follow) throw new MantelError("not_found", "the bridge has no live pictures");
    return this.#frames.next(nativeId, { after, follow });
  }

  video({ nativeId, offer }: Input<"video">, begin?: Begin): Promise<string> {
    return this.#accept(async () => {
      await begin?.();
      const answer = await this.#running.video?.(nativeId, offer);
      if (typeof answer === "string" && answer !== "") return answer;
      throw new MantelError("not_found", `${nativeId} has no video`);
    });
  }

  answerRoute(request: Input<"answerRoute">, begin?: Begin): Promise<SentAnswer> {
    return this.#accept(async () => {
      await begin?.();
      return this.#routes.answer(request);
    });
  }

  callService(request: Input<"callService">, begin?: Begin): Promise<unknown> {
    return this.#accept(async () => {
      // A call that may be repeated need not be known to have begun.
      if (!this.#services.isRepeatable(request.name)) await begin?.();
      return this.#services.call(request);
    });
  }

  /** Takes a change of a channel that the plugin follows. */
  channelChanged(change: ChannelChange): void {
    this.#channels?.take(change);
  }

  sourceChanged(change: SourceChange): void {
    this.#sources.take(change);
  }

  runSchedule(request: RunRequest): void {
    this.#schedules.run(request);
  }

  homeChanged(batch: HomeBatch): void {
    this.#followers.receive(batch);
  }

  /** Takes new settings of the home. False if the plugin uses a changed one and does not follow it. */
  settingsChanged(settings: HomeSettings): boolean {
    return this.#settings?.change(settings) ?? false;
  }

  /** True if only a call of the host, or a change in a folder, would give this generation work. */
  get mayRest(): boolean {
    const parts = [this.#followers, this.#schedules, this.#sources, this.#channels];
    if (this.#accepted.size > 0 || parts.some((each) => each?.isWaiting)) return false;
    try {
      return !this.#hasFailedToRest && this.#running.canRest?.() === true;
    } catch (error) {
      this.#hasFailedToRest = true; // asked twice a second, it would fill the log
      this.#log.error("canRest failed; the process keeps running", { error });
      return false;
    }
  }

  /** Stops the generation. A failing step is reported in `faults`; the other steps still run. */
  async quiesce({ deadlineMs }: Input<"quiesce">): Promise<QuiesceResult> {
    const endsAt = performance.now() + deadlineMs;
    this.#followers.end();
    this.#frames.close();
    const drained = this.#accepted.size;
    const faults: QuiesceFault[] = [];
    const note = (step: QuiesceFault["step"]) => (error: unknown) => {
      faults.push({ step, error: stackOf(error).slice(0, QUIESCE_FAULT_LENGTH) });
    };
    const accepted = Promise.allSettled(this.#accepted);
    await withDeadline(accepted, deadlineMs, "finishing the accepted calls").catch(note("calls"));
    const state = await this.#handOver(endsAt).catch(note("handOver"));
    this.#ended.abort();
    (await this.#scope.dispose()).forEach(note("release"));
    this.#channels?.flush();
    this.#flush();
    return { drained, faults, ...(state === undefined ? {} : { state }) };
  }

  /** Gets the rest of the deadline, because callers wait for it too, and at least `HAND_OVER_MS`. */
  async #handOver(endsAt: number): Promise<unknown> {
    const leftMs = Math.max(HAND_OVER_MS, Math.round(endsAt - performance.now()));
    const given = Promise.resolve(this.#running.handOver?.());
    return withDeadline(given, leftMs, "handOver");
  }

  /** Runs a call that `quiesce` waits for. State updates during the call are sent before its answer. */
  #accept<T>(work: () => Promise<T>): Promise<T> {
    const done = work().finally(() => {
      this.#flush();
      this.#accepted.delete(done);
    });
    this.#accepted.add(done);
    return done;
  }

  /** Sends all updates of one turn of the event loop together. */
  #update(updates: readonly DeviceUpdate[]): void {
    if (this.#updates.length === 0) queueMicrotask(() => this.#flush());
    this.#updates.push(...updates);
  }

  /** Never throws, because no caller could handle the error. */
  #flush(): void {
    while (this.#updates.length > 0) {
      const updates = this.#updates.splice(0, UPDATES_AT_ONCE);
      try {
        this.#host.notify("updateDevices", updates);
      } catch (error) {
        this.#log.error("device updates dropped: a state must be plain data (JSON)", { error });
      }
    }
  }

  #context(id: string, request: StartRequest): PluginContext<unknown, unknown> {
    const host = this.#host;
    const log = this.#log;
    const { signal } = this.#ended;
    const channels = (this.#channels ??= new RuntimeChannels({ id, host, log, signal }));
    const settings = (this.#settings ??= new LiveSettings(request.home, log));
    const call = createCall(id, request.uses, host);
    const context: PluginContext<unknown, unknown> = {
      id,
      config: request.config,
      schedule: this.#schedules.create(),
      discover: createDiscover(host),
      home: createHome(settings, { host, followers: this.#followers, call }),
      log,
      handedOver: request.handedOver,
      routes: { url: ({ path = "" }) => host.call("routeUrl", { path }) },
      sources: this.#sources.create(host),
      signal,
      onDispose: this.#scope.onDispose,
      storage: createStorage(request.storage, log),
      devices: {
        publish: (devices) => {
          this.#flush();
          return host.call("publishDevices", devices);
        },
        update: (...updates) => this.#update(updates),
        event: (nativeId, event, data) => {
          this.#flush(); // the state is sent before the event that it caused
          host.notify("announceDeviceEvent", { nativeId, event, ...(data ? { data } : {}) });
        },
      },
      scenes: { publish: (scenes) => host.call("publishScenes", scenes) },
      publish: createPublish(host),
      channels: channels.publishers(this.#plugin.channels),
      channel: channels.reader(request.uses),
      status: {
        ok: () => host.notify("reportDegraded", {}),
        degraded: (reason) => host.notify("reportDegraded", { reason: boundedSentence(reason) }),
      },
      folder(name) {
        const path = Object.hasOwn(request.folders, name) ? request.folders[name] : undefined;
        if (path !== undefined) return path;
        throw undeclared(id, name, "permissions.folders");
      },
      call,
    };
    const { devices, scenes, status, storage } = context;
    rejectOldNames(context);
    for (const part of [context, devices, log, scenes, status, storage]) freeze(part);
    return context;
  }
}

function stackOf(error: unknown): string {
  const isFault = error instanceof Error && !(error instanceof MantelError);
  return isFault ? (error.stack ?? String(error)) : String(error);
}

type Input<M extends keyof PluginApi> = Parameters<PluginApi[M]>[0];
