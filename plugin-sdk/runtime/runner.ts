import type { PluginContext } from "../context.ts";
import { withDeadline } from "../deadline.ts";
import type { DeviceUpdate } from "../device.ts";
import { DisposeScope } from "../dispose.ts";
import { MantelError } from "../errors.ts";
import type { Plugin, RunningPlugin } from "../plugin.ts";
import {
  type PluginApi,
  QUIESCE_FAULT_LENGTH,
  type QuiesceFault,
  type QuiesceResult,
  type StartRequest,
} from "../protocol.ts";
import type { Begin } from "../rpc/peer.ts";
import { EarlyLink } from "./early-link.ts";
import type { HostLink } from "./host-link.ts";
import { createLog } from "./log.ts";
import { createPublish } from "./publishing.ts";
import { createStorage } from "./storage.ts";

/** What giving the state may take where the calls have used up the time. */
const HAND_OVER_MS = 250;

/** Runs one generation of one plugin: builds its context, counts its calls, ends it. */
export class Runner {
  readonly #host: EarlyLink;
  readonly #plugin: Plugin;
  readonly #scope = new DisposeScope();
  readonly #ended = new AbortController();
  readonly #accepted = new Set<Promise<unknown>>();
  #updates: DeviceUpdate[] = [];
  #running: RunningPlugin<unknown> = {};
  /** What the plugin opens ahead of its start, which the host does not wait for without end. */
  #connected: Promise<unknown> | undefined;

  constructor(plugin: Plugin, host: HostLink) {
    this.#plugin = plugin;
    this.#host = new EarlyLink(host);
  }

  /** Opens the plugin's connections ahead of its start. One that fails leaves nothing open. */
  async connect(id: string, request: StartRequest): Promise<void> {
    this.#connected = this.#connect(id, request);
    await this.#connected;
  }

  async #connect(id: string, request: StartRequest): Promise<unknown> {
    const ctx = { ...this.#context(id, request), handedOver: undefined };
    try {
      return await this.#plugin.connect?.(ctx);
    } catch (error) {
      await this.#scope.dispose();
      throw error;
    }
  }

  async start(id: string, request: StartRequest): Promise<void> {
    const started = await this.#begin(id, request);
    this.#flush();
    this.#running = started ?? {};
  }

  /** A start that throws leaves nothing open. */
  async #begin(id: string, request: StartRequest): Promise<unknown> {
    try {
      this.#connected ??= this.#connect(id, request);
      const connected = await this.#connected;
      this.#flush(); // what was told too early
      this.#host.startTelling();
      return await this.#plugin.start(this.#context(id, request), connected);
    } catch (error) {
      this.#ended.abort();
      await this.#scope.dispose();
      throw error;
    }
  }

  command({ nativeId, command, commandId }: Input<"command">, begin?: Begin): Promise<void> {
    return this.#accept(async () => {
      await begin?.();
      if (!this.#running.command) throw new MantelError("invalid", "the bridge takes no commands");
      await this.#running.command(nativeId, command, commandId);
    });
  }

  activateScene({ nativeId, activationId }: Input<"activateScene">, begin?: Begin): Promise<void> {
    return this.#accept(async () => {
      await begin?.();
      if (!this.#running.activateScene) {
        throw new MantelError("invalid", "the bridge activates no scenes");
      }
      await this.#running.activateScene(nativeId, activationId);
    });
  }

  callService({ name, input }: Input<"callService">, begin?: Begin): Promise<unknown> {
    const services = this.#running.services as
      | Record<string, ((input: unknown) => Promise<unknown>) | undefined>
      | undefined;
    const service = services && Object.hasOwn(services, name) ? services[name] : undefined;
    if (!service) {
      throw new MantelError("service_unavailable", `the plugin does not provide ${name}`);
    }
    return this.#accept(async () => {
      await begin?.();
      return service(input);
    });
  }

  /** What goes wrong in it is told, and keeps nothing of the rest from being done. */
  async quiesce({ deadlineMs }: Input<"quiesce">): Promise<QuiesceResult> {
    const endsAt = performance.now() + deadlineMs;
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
    this.#flush();
    return { drained, faults, ...(state === undefined ? {} : { state }) };
  }

  /** Calls wait for this too, so it has what is left of the time, and a moment at least. */
  async #handOver(endsAt: number): Promise<unknown> {
    const leftMs = Math.max(HAND_OVER_MS, Math.round(endsAt - performance.now()));
    const given = Promise.resolve(this.#running.handOver?.());
    return withDeadline(given, leftMs, "handOver");
  }

  /** Carries out a call that quiesce will wait for; state updates made in it arrive before its answer. */
  #accept<T>(work: () => Promise<T>): Promise<T> {
    const done = work().finally(() => {
      this.#flush();
      this.#accepted.delete(done);
    });
    this.#accepted.add(done);
    return done;
  }

  /** Updates of one turn of the event loop travel as one message. */
  #update(updates: readonly DeviceUpdate[]): void {
    if (this.#updates.length === 0) queueMicrotask(() => this.#flush());
    this.#updates.push(...updates);
  }

  #flush(): void {
    if (this.#updates.length === 0) return;
    const updates = this.#updates;
    this.#updates = [];
    this.#host.notify("updateDevices", updates);
  }

  #context(id: string, request: StartRequest): PluginContext<unknown, unknown> {
    const host = this.#host;
    const log = createLog(host);
    return {
      id,
      config: request.config,
      house: request.house,
      log,
      handedOver: request.handedOver,
      signal: this.#ended.signal,
      onDispose: this.#scope.onDispose,
      storage: createStorage(request.storage, log),
      devices: {
        publish: (devices) => {
          this.#flush();
          return host.call("publishDevices", devices);
        },
        update: (...updates) => this.#update(updates),
        event: (nativeId, event, data) => {
          this.#flush(); // the state that led to the event is known before it
          host.notify("announceDeviceEvent", { nativeId, event, ...(data ? { data } : {}) });
        },
      },
      scenes: { publish: (scenes) => host.call("publishScenes", scenes) },
      publish: createPublish(host),
      reportDegraded: (reason) =>
        host.notify("reportDegraded", reason === undefined ? {} : { reason }),
      folder(name) {
        const path = Object.hasOwn(request.folders, name) ? request.folders[name] : undefined;
        if (path !== undefined) return path;
        throw undeclared(id, name, "permissions.folders");
      },
      call: createCall(id, request.uses, host),
    };
  }
}

function stackOf(error: unknown): string {
  const isFault = error instanceof Error && !(error instanceof MantelError);
  return isFault ? (error.stack ?? String(error)) : String(error);
}

type Input<M extends keyof PluginApi> = Parameters<PluginApi[M]>[0];

/** Calls services of other plugins, those that the manifest names. */
export function createCall(
  id: string,
  uses: readonly string[],
  host: HostLink,
): PluginContext<unknown, unknown>["call"] {
  return async (name, input) => {
    if (!uses.includes(name)) throw undeclared(id, name, "uses");
    return (await host.call("callService", { name, input })) as never;
  };
}

function undeclared(id: string, name: string, key: string): MantelError {
  return new MantelError(
    "invalid",
    `${id} reaches for ${name}, which its manifest does not declare: add "${name}" to "mantel.${key}" in its package.json`,
  );
}
