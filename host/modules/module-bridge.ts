import type { CommandBeyond, DeviceCommand } from "@mantel/plugin-sdk/device";
import type { SentFrame, SentImage } from "@mantel/plugin-sdk/device-image";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { ModuleState } from "@mantel/plugin-sdk/module-state";
import type {
  Bridge,
  BridgeDirectory,
  BridgeLimits,
  BridgeStatus,
  BridgeView,
  Rate,
} from "../devices/bridge.ts";
import type { Module } from "./lifecycle/module.ts";

const STATUS: Partial<Record<ModuleState, BridgeStatus>> = {
  active: "ok",
  degraded: "degraded",
  loading: "starting",
};

const CONFIRM_MS = 5_000;
/** A process answers before this, with or without a picture. */
const FRAME_MS = 8_000;
/** A camera that sleeps, and has to be woken for a video, takes longer than a command. */
const VIDEO_MS = 15_000;

type BridgeManifest = Module["plugin"]["manifest"]["bridge"];

/** A module of the kind `bridge`, as devices and scenes use it. */
export class ModuleBridge implements Bridge {
  readonly #module: Module;
  /** The limits of the manifest that was read last; a change of the module's files makes another one. */
  #read: { readonly manifest: BridgeManifest; readonly limits: BridgeLimits } | undefined;

  constructor(module: Module) {
    this.#module = module;
  }

  get limits(): BridgeLimits {
    const manifest = this.#manifest;
    if (!this.#read || this.#read.manifest !== manifest)
      this.#read = { manifest, limits: limitsOf(manifest) };
    return this.#read.limits;
  }

  get isEnabled(): boolean {
    return this.#module.status.settledState !== "disabled";
  }

  get view(): BridgeView {
    const { view, status } = this.#module;
    const { id, name, error } = view;
    return {
      id,
      kind: this.#manifest?.kind ?? "",
      name,
      status: status.isWidgetFault ? "ok" : (STATUS[status.settledState] ?? "down"),
      reason: status.isWidgetFault ? null : (error?.message ?? null),
    };
  }

  get isComingBack(): boolean {
    return this.#module.status.isComingBack;
  }

  ready(): Promise<void> | undefined {
    const wait = this.#module.ready();
    return wait && this.#asBridge(() => wait);
  }

  command(
    nativeId: string,
    command: DeviceCommand,
    commandId: string,
    beyond?: CommandBeyond,
  ): Promise<void> {
    return this.#call("command", {
      nativeId,
      command,
      commandId,
      ...(beyond ? { beyond } : {}),
    });
  }

  activateScene(nativeId: string, activationId: string): Promise<void> {
    return this.#call("activateScene", { nativeId, activationId });
  }

  image(nativeId: string): Promise<SentImage | null> {
    return this.#asBridge(() => this.#module.call("image", { nativeId }, this.limits.confirmMs));
  }

  nextFrame(nativeId: string, after: number): Promise<SentFrame | null> {
    return this.#asBridge(() => this.#module.call("nextFrame", { nativeId, after }, FRAME_MS));
  }

  video(nativeId: string, offer: string): Promise<string> {
    return this.#asBridge(() => this.#module.call("video", { nativeId, offer }, VIDEO_MS));
  }

  get #manifest(): BridgeManifest {
    return this.#module.callingPlugin.manifest.bridge;
  }

  #call(...[method, input]: Parameters<Module["call"]>): Promise<void> {
    return this.#asBridge(async () => {
      await this.#module.call(method, input, this.limits.confirmMs);
    });
  }

  /** Turns `module_down` into the error of an unavailable bridge for callers that command its devices. */
  async #asBridge<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof MantelError) || error.code !== "module_down") throw error;
      throw new MantelError("bridge_down", `${this.#module.id}: ${error.message}`, {
        cause: error,
        retryAfterMs: error.extras.retryAfterMs ?? 1_000,
      });
    }
  }
}

function limitsOf(manifest: BridgeManifest): BridgeLimits {
  const { commandsPerSecond = 1, burst, confirmMs = CONFIRM_MS, rates = [] } = manifest ?? {};
  return {
    ...filled({ commandsPerSecond, burst }),
    confirmMs,
    rates: rates.map(({ kinds, ...rate }) => ({ kinds, ...filled(rate) })),
  };
}

function filled({
  commandsPerSecond,
  burst,
}: {
  commandsPerSecond: number;
  burst?: number | undefined;
}): Rate {
  return { commandsPerSecond, burst: burst ?? Math.max(1, Math.floor(commandsPerSecond)) };
}

/** The modules that are bridges, by id. */
export class BridgeTable implements BridgeDirectory {
  readonly #bridges = new Map<string, ModuleBridge>();

  add(module: Module): void {
    const { bridge } = module.plugin.manifest;
    if (bridge) this.#bridges.set(module.id, new ModuleBridge(module));
  }

  remove(id: string): void {
    this.#bridges.delete(id);
  }

  find(id: string): Bridge | undefined {
    return this.#bridges.get(id);
  }

  /** Bridges that are enabled. */
  list(): readonly Bridge[] {
    return [...this.#bridges.values()].filter(({ isEnabled }) => isEnabled);
  }
}
