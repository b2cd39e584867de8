import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
import type { Plugin } from "./plugin.ts";
import type { HostApi, LogRecord, QuiesceFault, StartRequest } from "./protocol.ts";
import type { HostLink } from "./runtime/host-link.ts";
import { Runner } from "./runtime/runner.ts";
import type { SceneDescription } from "./scene.ts";
import { type CheckedImage, parseImage } from "./sent-image.ts";
import type { PublicationName, Publications, ServiceName, Services } from "./service.ts";

/** The options of `startPlugin`. */
export interface TestHostOptions {
  /** The value of `ctx.config`. The schema's defaults are not filled in. */
  readonly config?: unknown;
  /** The value of `ctx.handedOver`. */
  readonly handedOver?: unknown;
  /** Fakes of the services that the plugin calls, by name. */
  readonly services?: Partial<Services>;
  /** The paths that `ctx.folder` returns, by name. */
  readonly folders?: Readonly<Record<string, string>>;
  readonly timeZone?: string;
}

/** A plugin that runs in the test's own process, with everything that it sent to the host. */
export interface RunningTest {
  readonly devices: ReadonlyMap<string, DeviceDescription>;
  readonly scenes: readonly SceneDescription[];
  /** All device events, oldest first. */
  readonly events: readonly DeviceEvent[];
  readonly published: Partial<Publications>;
  readonly logs: readonly LogRecord[];
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
  call<N extends ServiceName>(
    name: N,
    input: Parameters<Services[N]>[0],
  ): Promise<Awaited<ReturnType<Services[N]>>>;
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
  const storage = await mkdtemp(join(tmpdir(), "mantel-plugin-"));
  const host = new MemoryHost(options.services ?? {});
  const runner = new Runner(plugin, host);
  await runner.start("test", startRequest(options, storage)).catch(async (error: unknown) => {
    await rm(storage, { recursive: true, force: true });
    throw error;
  });
  let calls = 0;
  return {
    devices: host.devices,
    events: host.events,
    published: host.published,
    logs: host.logs,
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
    async image(nativeId) {
      const sent = await runner.image({ nativeId });
      return sent === null ? undefined : parseImage(sent);
    },
    call: async (name, input) => (await runner.callService({ name, input })) as never,
    async stop() {
      const { state, faults } = await runner.quiesce({ deadlineMs: 5_000 });
      await rm(storage, { recursive: true, force: true });
      if (faults.length > 0) throw new Error(faults.map(sentenceOf).join("; "));
      return state;
    },
  };
}

function sentenceOf({ step, error }: QuiesceFault): string {
  return step === "release" ? `a release failed: ${error}` : error;
}

function startRequest(options: TestHostOptions, storage: string): StartRequest {
  const { config = {}, folders = {}, services = {}, timeZone = "Europe/Berlin" } = options;
  return {
    config,
    folders,
    storage,
    uses: Object.keys(services),
    home: { locale: "en-GB", timeZone, pollSeconds: 30 },
    ...(options.handedOver === undefined ? {} : { handedOver: options.handedOver }),
  };
}

/** The device after an update, which changes only the fields that it has. */
function updated(
  device: DeviceDescription,
  { nativeId, state, parts = {}, extra, ...rest }: DeviceUpdate,
): DeviceDescription {
  const unknown = Object.keys(parts).find((id) => !device.parts?.some((part) => part.id === id));
  if (unknown !== undefined || (extra && !device.extra)) {
    const what = unknown === undefined ? "extras" : `part ${unknown}`;
    throw new MantelError("invalid", `${nativeId} was published without ${what}`);
  }
  return {
    ...device,
    ...rest,
    state: { ...device.state, ...state },
    ...(device.parts && {
      parts: device.parts.map((part) => ({ ...part, state: { ...part.state, ...parts[part.id] } })),
    }),
    ...(device.extra && {
      extra: { ...device.extra, state: { ...device.extra.state, ...extra } },
    }),
  };
}

class MemoryHost implements HostLink {
  readonly devices = new Map<string, DeviceDescription>();
  readonly published: { -readonly [N in PublicationName]?: Publications[N] } = {};
  readonly logs: LogRecord[] = [];
  readonly events: DeviceEvent[] = [];
  scenes: readonly SceneDescription[] = [];
  degraded: string | undefined;
  readonly #services: Partial<Services>;
  /** All received parts of calendar windows. */
  readonly #parts: CalendarPart[] = [];

  constructor(services: Partial<Services>) {
    this.#services = services;
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
      case "callService":
        return this.#callService(input);
      case "reportDegraded":
        this.degraded = (input as { reason?: string }).reason;
        return undefined;
      case "log":
        this.logs.push(input);
        return undefined;
      default: // a step of a setup; setups do not run here
        return undefined;
    }
  }

  #replace(devices: readonly DeviceDescription[]): void {
    this.devices.clear();
    for (const device of devices) this.devices.set(device.nativeId, device);
  }

  #update(updates: readonly DeviceUpdate[]): void {
    for (const update of updates) {
      this.devices.set(update.nativeId, updated(this.device(update.nativeId), update));
    }
  }

  #publish({ name, value }: { name: PublicationName; value: never }): void {
    this.published[name] = name === "calendar.window" ? (this.#whole(value) as never) : value;
  }

  #whole({ parts, ...rest }: PartedWindow): Publications["calendar.window"] {
    const byHash = new Map(this.#parts.map(({ hash, events }) => [hash, events]));
    return { ...rest, events: parts.flatMap((hash) => byHash.get(hash) ?? []) };
  }

  async #callService({ name, input }: { name: ServiceName; input: never }): Promise<unknown> {
    const service = this.#services[name] as ((input: never) => Promise<unknown>) | undefined;
    if (!service)
      throw new MantelError(
        "service_unavailable",
        `no plugin provides ${name}; pass a fake under "services"`,
      );
    return service(input);
  }
}
