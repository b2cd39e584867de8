import type { CommandResult, CommandBody } from "@mantel/plugin-sdk/widget";
import { batch } from "@preact/signals-core";
import { type Api, ApiError } from "./api.ts";
import { levelMemory } from "./level-memory.ts";
import { mergeCommands } from "./merge-commands.ts";
import type { Store } from "./store.ts";

/** Maximum time for which a pending value is shown without an answer, including back-off. */
const PENDING_MS = 8_000;
const DEFAULT_BACK_OFF_MS = 1_000;
/** Least time between two commands of one drag. The pending value follows the finger without delay. */
const DRAG_STEP_MS = 100;

const NOT_SENT: CommandResult = {
  ok: false,
  error: { code: "offline", message: "the host has not answered yet" },
};

interface Lane {
  /** The command that the host is processing. */
  readonly sent: CommandBody;
  readonly sentAt: number;
  /** The next command: later keys replace earlier ones, so the last value always arrives. */
  waiting: CommandBody;
  readonly answer: Promise<CommandResult>;
  next: Promise<CommandResult> | undefined;
}

/**
 * Sends commands. Shows the pending value immediately, sends one command per device at a time, then
 * the latest value. Retries after a 409.
 */
export class Commands {
  readonly #api: Api;
  readonly #store: Store;
  readonly #answered: () => void;
  readonly #lanes = new Map<string, Lane>();

  /** @param answered called after each answer, shortly before the matching event arrives */
  constructor(api: Api, store: Store, answered: () => void) {
    this.#api = api;
    this.#store = store;
    this.#answered = answered;
  }

  /** Never rejects. Commands that were merged while waiting share one result. */
  send(id: string, asked: CommandBody): Promise<CommandResult> {
    if (this.#showsSavedHome()) return Promise.resolve(NOT_SENT);
    const command = levelMemory.complete(this.#store.device(id).peek(), asked);
    const lane = this.#lanes.get(id);
    if (!lane) return this.#start(id, command);
    lane.waiting = mergeCommands(lane.waiting, command);
    this.#store.setPending(id, mergeCommands(lane.sent, lane.waiting));
    lane.next ??= lane.answer.then(async () => {
      const waitMs = dragStepMs(lane);
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      return this.#start(id, lane.waiting);
    });
    return lane.next;
  }

  /** Never rejects. */
  async activateScene(id: string): Promise<CommandResult> {
    if (this.#showsSavedHome()) return NOT_SENT;
    try {
      await this.#api.post(`/smart-home/scenes/${encodeURIComponent(id)}/activate`);
      return { ok: true };
    } catch (error) {
      return failure(error);
    }
  }

  /** True while the page shows how the home was: a command could mean another state than the present one. */
  #showsSavedHome(): boolean {
    return this.#store.savedAt.peek() !== undefined;
  }

  #start(id: string, command: CommandBody): Promise<CommandResult> {
    const answer = this.#deliver(id, command);
    const sentAt = performance.now();
    const lane: Lane = { sent: command, sentAt, waiting: {}, answer, next: undefined };
    this.#lanes.set(id, lane);
    this.#store.setPending(id, command);
    return answer.then((result) => {
      batch(() => {
        if (result.device) this.#store.putDevice(result.device);
        this.#store.setPending(id, lane.waiting);
      });
      if (!lane.next) this.#lanes.delete(id);
      this.#answered();
      return result;
    });
  }

  async #deliver(id: string, command: CommandBody): Promise<CommandResult> {
    const path = `/smart-home/devices/${encodeURIComponent(id)}/command` as const;
    const deadlineAt = performance.now() + PENDING_MS;
    for (;;) {
      const left = deadlineAt - performance.now();
      try {
        const { device } = await this.#api.post(path, command, left);
        return { ok: true, device };
      } catch (error) {
        const waitMs = backOffOf(error);
        if (waitMs === undefined || performance.now() + waitMs > deadlineAt) return failure(error);
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
  }
}

/** Milliseconds until the next step of a drag: of a command that sets the same fields as the one before. */
function dragStepMs({ sent, sentAt, waiting }: Lane): number {
  const isDrag = Object.keys(sent).join() === Object.keys(waiting).join();
  return isDrag ? sentAt + DRAG_STEP_MS - performance.now() : 0;
}

/** Milliseconds until the command may be retried; `undefined` if it must not be retried. */
function backOffOf(error: unknown): number | undefined {
  if (!(error instanceof ApiError) || (error.status !== 409 && error.status !== 429))
    return undefined;
  return error.retryAfterMs ?? DEFAULT_BACK_OFF_MS;
}

function failure(error: unknown): CommandResult {
  const code = error instanceof ApiError ? error.code : "internal";
  return {
    ok: false,
    error: { code, message: error instanceof Error ? error.message : String(error) },
  };
}
