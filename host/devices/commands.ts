import { randomUUID } from "node:crypto";
import type { Cause } from "@mantel/plugin-sdk/cause";
import { withDeadline } from "@mantel/plugin-sdk/deadline";
import type { Device } from "@mantel/plugin-sdk/device";
import {
  beyondOf,
  bodyOf,
  mergedCommands,
  OWN,
  type SectionedCommand,
} from "@mantel/plugin-sdk/device-sections";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { HomeError } from "@mantel/plugin-sdk/home";
import { parseCommand } from "@mantel/plugin-sdk/parse-command";
import type { Bus } from "../events/bus.ts";
import type { HostLog } from "../log.ts";
import { CommandBatch, type CommandOutcome } from "./batch.ts";
import { type Bridge, type BridgeDirectory, upBridge } from "./bridge.ts";
import { CommandLog } from "./command-log.ts";
import { LONGEST_WAIT_MS, RateLimiters, type Reservation } from "./rate-limiter.ts";
import type { DeviceRegistry } from "./registry.ts";

export type { CommandOutcome } from "./batch.ts";

/** The most callers that may wait for one device; further ones are refused. */
const CALLERS_PER_DEVICE = 1_000;

interface Dependencies {
  readonly bus: Bus;
  readonly devices: DeviceRegistry;
  readonly bridges: BridgeDirectory;
  readonly log: HostLog;
}

export interface CommandOptions {
  /** Absent for a command whose results count as the device's own. */
  readonly cause?: Cause | undefined;
  /** The longest wait for the bridge's rate limit. */
  readonly longestWaitMs?: number;
}

/** The commands of one device: at most one batch is sent to its bridge, and at most one waits. */
interface Lane {
  sent?: CommandBatch | undefined;
  waiting?: { readonly batch: CommandBatch; readonly whenAllowed: Reservation } | undefined;
}

/**
 * Sends commands to bridges, within each bridge's rate limit. Commands to a busy
 * device are merged into one waiting batch, so that the last value always arrives.
 */
export class Commands {
  readonly #parts: Dependencies;
  readonly #log: CommandLog;
  readonly #limiters = new RateLimiters();
  readonly #lanes = new Map<string, Lane>();

  constructor(parts: Dependencies) {
    this.#parts = parts;
    this.#log = new CommandLog(parts.log);
  }

  /**
   * Checks a command and queues it. `done` settles when the bridge has confirmed it, and rejects with
   * `bridge_down`, `bridge_rate_limited` or `deadline_passed`; it may be ignored. The failure of a valid command is
   * announced as `command.failed`.
   *
   * @throws MantelError `device_unknown`, `invalid` with every fault, `bridge_down`, or
   * `bridge_rate_limited` if the command cannot be sent within `longestWaitMs`
   */
  send(
    id: string,
    body: unknown,
    options: CommandOptions = {},
  ): { commandId: string; done: Promise<CommandOutcome> } {
    const device = this.#parts.devices.get(id);
    const command = parseCommand(device, body);
    try {
      return this.#queue(device, command, options);
    } catch (error) {
      const failed = { command, cause: options.cause };
      this.#log.failed(id, failed, error);
      this.#announceFailure(id, failed, error);
      throw error;
    }
  }

  #queue(
    device: Device,
    command: SectionedCommand,
    { cause, longestWaitMs = LONGEST_WAIT_MS }: CommandOptions,
  ): { commandId: string; done: Promise<CommandOutcome> } {
    const { id } = device;
    const bridge = upBridge(this.#parts.bridges, device.bridge);
    const { gateway } = this.#parts.devices.nativeOf(id);

    const lane: Lane = this.#lanes.get(id) ?? {};
    const isFirst = lane.waiting === undefined;
    lane.waiting ??= {
      batch: new CommandBatch(),
      whenAllowed: this.#limiters.of(bridge, { kind: device.kind, gateway }).reserve(longestWaitMs),
    };
    refuseFlood(id, lane.waiting.batch);
    this.#lanes.set(id, lane);
    const commandId = randomUUID();
    const done = lane.waiting.batch.join(commandId, command, cause);
    this.#showPending(id, lane, cause);
    if (isFirst && !lane.sent) this.#enqueue(id, lane);
    return { commandId, done };
  }

  /**
   * Resolves when a scene may be sent to a bridge, or to that gateway of it.
   * @throws MantelError `bridge_down`, `bridge_rate_limited`
   */
  async turnForScene(bridgeId: string, gateway: string | undefined): Promise<Bridge> {
    const bridge = upBridge(this.#parts.bridges, bridgeId);
    const whenAllowed = this.#limiters
      .of(bridge, { kind: "scene", gateway })
      .reserve(LONGEST_WAIT_MS);
    await new Promise<void>((resolve) => whenAllowed(resolve));
    return bridge;
  }

  #enqueue(id: string, lane: Lane): void {
    lane.waiting?.whenAllowed(() => void this.#sendWaiting(id, lane));
  }

  async #sendWaiting(id: string, lane: Lane): Promise<void> {
    const batch = lane.waiting?.batch;
    if (!batch) return;
    lane.waiting = undefined;
    lane.sent = batch;
    this.#log.sent(id, batch);
    const before = this.#parts.devices.find(id);
    try {
      await this.#ask(id, batch);
      this.#release(id, lane);
      const device = this.#parts.devices.get(id);
      batch.confirm(device, before ?? device);
    } catch (error) {
      this.#release(id, lane);
      this.#log.failed(id, batch, error);
      this.#announceFailure(id, batch, error);
      batch.fail(error);
    }
    if (lane.waiting) this.#enqueue(id, lane);
    else this.#lanes.delete(id);
  }

  async #ask(id: string, batch: CommandBatch): Promise<void> {
    const { bridgeId, nativeId } = this.#parts.devices.nativeOf(id);
    const bridge = upBridge(this.#parts.bridges, bridgeId);
    const wait = bridge.ready();
    if (wait) await wait;
    const { confirmMs } = bridge.limits;
    const end = this.#parts.devices.beginCommand(id, batch.causes);
    let settleMs = confirmMs;
    try {
      await withDeadline(sendToBridge(bridge, nativeId, batch), confirmMs, `the command to ${id}`);
      this.#parts.devices.assume(id, batch.command);
    } catch (error) {
      if (!mayHaveArrived(error)) settleMs = 0;
      throw error;
    } finally {
      end(settleMs);
    }
  }

  #release(id: string, lane: Lane): void {
    const cause = lane.sent?.cause;
    lane.sent = undefined;
    this.#showPending(id, lane, cause);
  }

  #showPending(id: string, { sent, waiting }: Lane, cause: Cause | undefined): void {
    const none: SectionedCommand = new Map();
    const pending = mergedCommands(sent?.command ?? none, waiting?.batch.command ?? none);
    this.#parts.devices.setPending(id, pending, cause);
  }

  #announceFailure(
    deviceId: string,
    { command, cause }: Pick<CommandBatch, "command" | "cause">,
    error: unknown,
  ): void {
    this.#parts.bus.emit("command.failed", {
      deviceId,
      at: new Date().toISOString(),
      command: bodyOf(command),
      error: errorOf(error),
      ...(cause && { cause }),
    });
  }
}

/** A failure in words. Only expected failures keep their text; the others are already in the log. */
export function errorOf(error: unknown): HomeError {
  return error instanceof MantelError
    ? { code: error.code, detail: error.message }
    : { code: "internal", detail: "the bridge failed; see the log" };
}

/** True for the error of a command that the device may carry out nevertheless. */
function mayHaveArrived(error: unknown): boolean {
  if (!(error instanceof MantelError)) return false;
  return error.code === "deadline_passed" || error.code === "outcome_unknown";
}

function sendToBridge(bridge: Bridge, nativeId: string, { command, commandId }: CommandBatch) {
  const own = command.get(OWN) ?? {};
  const isOwn = command.size === 1 && command.has(OWN);
  if (isOwn) return bridge.command(nativeId, own, commandId);
  return bridge.command(nativeId, own, commandId, beyondOf(command));
}

function refuseFlood(id: string, { size }: CommandBatch): void {
  if (size < CALLERS_PER_DEVICE) return;
  throw new MantelError("bridge_rate_limited", `${size} commands already wait for ${id}`, {
    retryAfterMs: LONGEST_WAIT_MS,
  });
}
