import { fullChannelName } from "@mantel/plugin-sdk/channel-names";
import type { Device } from "@mantel/plugin-sdk/device";
import { serviceKey } from "@mantel/plugin-sdk/service";
import type { CommandResult, ModuleStatus } from "@mantel/plugin-sdk/widget";
import { WidgetPermissions } from "@mantel/plugin-sdk/widget-permissions";
import type { ServiceName, WidgetContexts } from "../widget-context.ts";
import { frameIcons } from "./frame-icons.ts";
import type { Frame } from "./frame.ts";
import type { FromFrame } from "./from-frame.ts";
import type { ReadAnswer, ToFrame } from "./to-frame.ts";
import { TokenBucket } from "./token-bucket.ts";

type Asked = Extract<FromFrame, { call: number } | { kind: "announce" | "icon" | "details" }>;

/** Maximum size of a document sent to a frame, such as a picture. */
const LARGEST_BYTES = 32 * 1024 * 1024;
const READS_AT_ONCE = 6;

interface FeedDependencies {
  readonly needs: ConstructorParameters<typeof WidgetPermissions>[0];
  readonly contexts: WidgetContexts;
  /** The id of the widget's module. */
  readonly module: string;
}

/**
 * The home as one framed widget sees it, and the answers to its requests. Enforces the needs that
 * the widget declares.
 */
export class HomeFeed {
  readonly #frame: Frame;
  readonly #contexts: WidgetContexts;
  readonly #permitted: WidgetPermissions;
  /** Full names. */
  readonly #channels: readonly string[];
  readonly #reads = new Map<number, AbortController>();
  readonly #readLimit = new TokenBucket({ burst: 30, perSecond: 3 });
  readonly #commandLimit = new TokenBucket({ burst: 300, perSecond: 150 });
  readonly #sceneLimit = new TokenBucket({ burst: 10, perSecond: 1 });
  readonly #roomLimit = new TokenBucket({ burst: 10, perSecond: 1 });
  readonly #detailsLimit = new TokenBucket({ burst: 3, perSecond: 0.5 });
  readonly #serviceLimit = new TokenBucket({ burst: 30, perSecond: 5 });
  readonly #announceLimit = new TokenBucket({ burst: 5, perSecond: 0.5 });
  readonly #iconLimit = new TokenBucket({ burst: 100, perSecond: 2 });
  #devices: readonly Device[] = [];
  readonly #values = new Map<string, unknown>();

  constructor(frame: Frame, { needs, contexts, module }: FeedDependencies) {
    this.#frame = frame;
    this.#contexts = contexts;
    this.#permitted = new WidgetPermissions(needs, module);
    this.#channels = this.#permitted.channels.map((name) => fullChannelName(name, module));
  }

  /** All visible data, for the first paint. */
  first(): Pick<Extract<ToFrame, { kind: "mount" }>, "devices" | "channels" | "icons"> {
    this.#devices = this.#permitted.seen(this.#contexts.allDevices.peek());
    for (const name of this.#channels)
      this.#values.set(name, channelValue(name, this.#contexts.channel(name).peek()));
    return {
      devices: this.#devices,
      channels: Object.fromEntries(this.#values),
      icons: frameIcons.loaded,
    };
  }

  /**
   * Sends the changes since `first()`, and later changes as they happen. Returns a function that
   * stops this.
   */
  start(): () => void {
    const stops = [
      this.#contexts.allDevices.subscribe((devices) => this.#sendDevices(devices)),
      ...this.#channels.map((name) =>
        this.#contexts
          .channel(name)
          .subscribe((value) => this.#sendValue(name, channelValue(name, value))),
      ),
    ];
    return () => {
      for (const stop of stops) stop();
      for (const reading of this.#reads.values()) reading.abort();
    };
  }

  receive(message: Asked): void {
    if (message.kind === "command") void this.#answer(message.call, () => this.#command(message));
    else if (message.kind === "commandRoom")
      void this.#answer(message.call, () => this.#commandRoom(message));
    else if (message.kind === "details") this.#details(message);
    else if (message.kind === "scene") void this.#answer(message.call, () => this.#scene(message));
    else if (message.kind === "read") void this.#read(message);
    else if (message.kind === "service") void this.#service(message);
    else if (message.kind === "cancel") this.#reads.get(message.call)?.abort();
    else if (message.kind === "announce") this.#announce(message.text);
    else if (message.kind === "icon") void this.#icon(message.name);
  }

  #sendValue(name: string, value: unknown): void {
    if (this.#values.get(name) === value) return;
    this.#values.set(name, value);
    this.#frame.send({ kind: "channel", name, value });
  }

  /** Sends changed devices one by one, or all devices if the set has changed. */
  #sendDevices(devices: readonly Device[]): void {
    const [now, before] = [this.#permitted.seen(devices), this.#devices];
    this.#devices = now;
    const isSame = now.length === before.length && now.every(({ id }, at) => id === before[at]?.id);
    if (!isSame) return this.#frame.send({ kind: "devices", all: now });
    for (const [at, device] of now.entries()) {
      if (device !== before[at]) this.#frame.send({ kind: "device", device });
    }
  }

  async #answer(call: number, work: () => Promise<CommandResult>): Promise<void> {
    const answer = await work().catch(refusal);
    this.#frame.send({ kind: "answer", call, answer });
  }

  async #command({
    device: id,
    command,
  }: Extract<Asked, { kind: "command" }>): Promise<CommandResult> {
    this.#permitted.requireCommand(id, this.#device(id));
    this.#commandLimit.take("commands");
    return this.#contexts.shared.command(id, command);
  }

  async #commandRoom({
    room,
    device: kind,
    command,
  }: Extract<Asked, { kind: "commandRoom" }>): Promise<CommandResult> {
    this.#permitted.requireRoom(room, kind);
    this.#roomLimit.take("commands for rooms");
    return this.#contexts.shared.commandRoom(room, kind, command);
  }

  /** Opens a sheet of the dashboard, in which the widget sees nothing. */
  #details({ target, box }: Extract<Asked, { kind: "details" }>): void {
    try {
      if ("device" in target) this.#permitted.requireSeen(target.device, (id) => this.#device(id));
      else this.#permitted.requireRoom("room" in target ? target.room : target, "light");
      this.#detailsLimit.take("details");
      this.#contexts.openDetails(target, this.#frame.inWindow(box));
    } catch (error) {
      console.warn("a widget could not open details", error);
    }
  }

  async #scene({ scene }: Extract<Asked, { kind: "scene" }>): Promise<CommandResult> {
    this.#permitted.requireScenes();
    this.#sceneLimit.take("scenes");
    return this.#contexts.shared.scene(scene);
  }

  async #service({ call, input, ...service }: Extract<Asked, { kind: "service" }>): Promise<void> {
    const answer = await this.#callService(service, input).catch((error: unknown) => {
      const { error: told } = refusal(error);
      return { error: told ?? { code: "internal", message: sentenceOf(error) } };
    });
    this.#frame.send({ kind: "answer", call, answer });
  }

  async #callService(service: ServiceName, input: unknown): Promise<{ result: unknown }> {
    this.#permitted.requireService(serviceKey(service));
    this.#serviceLimit.take("calls of services");
    const { name, version } = service;
    const definition = { name, version, input: {} };
    return { result: await this.#contexts.shared.call(definition, input) };
  }

  async #read({ call, path }: Extract<Asked, { kind: "read" }>): Promise<void> {
    const reading = new AbortController();
    this.#reads.set(call, reading);
    try {
      const answer = await this.#document(path, reading.signal);
      this.#frame.send({ kind: "answer", call, answer }, [answer.body]);
    } catch (error) {
      this.#frame.send({ kind: "answer", call, answer: { error: sentenceOf(error) } });
    } finally {
      this.#reads.delete(call);
    }
  }

  async #document(
    path: string,
    signal: AbortSignal,
  ): Promise<Exclude<ReadAnswer, { error: string }>> {
    const permitted = this.#permitted.documentAt(path, (id) => this.#device(id));
    if (this.#reads.size > READS_AT_ONCE) throw new Error("the widget reads too much at once");
    this.#readLimit.take("documents");
    const response = await this.#contexts.read(permitted, signal);
    const isLarge = Number(response.headers.get("content-length") ?? 0) > LARGEST_BYTES;
    const body = isLarge ? undefined : await response.arrayBuffer();
    if (!body || body.byteLength > LARGEST_BYTES) throw new Error("the document is too large");
    return { type: response.headers.get("content-type") ?? "", body };
  }

  #device(id: string): Device | undefined {
    return this.#contexts.allDevices.peek().find((device) => device.id === id);
  }

  #announce(text: string): void {
    if (this.#announceLimit.has()) this.#contexts.shared.announce(text);
  }

  async #icon(name: string): Promise<void> {
    if (!this.#iconLimit.has()) return;
    const path = await frameIcons.pathOf(name);
    this.#frame.send({ kind: "icon", name, path });
  }
}

/** The value of a channel as widgets receive it. */
function channelValue(name: string, value: unknown): unknown {
  return name === "modules" ? (value as readonly ModuleStatus[]).map(statusOf) : value;
}

/** Removes the fields of a module that widgets do not receive. */
function statusOf(module: ModuleStatus): ModuleStatus {
  const { id, name, version, state, generation, restarts, resources, progress, error } = module;
  return { id, name, version, state, generation, restarts, resources, progress, error };
}

function refusal(error: unknown): CommandResult {
  const code = error instanceof Error && "code" in error ? String(error.code) : "internal";
  return { ok: false, error: { code, message: sentenceOf(error) } };
}

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
