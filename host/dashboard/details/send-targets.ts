import type { CommandBody } from "@mantel/plugin-sdk/device";
import { batch } from "@preact/signals-core";
import { ApiError } from "../api.ts";
import { levelMemory } from "../level-memory.ts";
import { mergeCommands } from "../merge-commands.ts";
import type { Session } from "../session.ts";

/** A command for each device, by its id. */
export type Targets = ReadonlyMap<string, CommandBody>;

/** The devices that did what they were sent, and the error code if any did not. */
export interface Sent {
  readonly done: ReadonlySet<string>;
  readonly code?: string;
}

/** Least time between two commands of one drag. */
const DRAG_STEP_MS = 100;
/** Longer than the host waits for a bridge with a queue. */
const ANSWER_MS = 20_000;

/** Events are drawn up to 100 ms after the answer; until then the value stays pending, so that none flickers. */
const EVENT_MS = 150;

type Home = Pick<Session, "api" | "store">;

/** Sends many devices a command each in one request, and shows the values as pending until the answer. Never rejects. */
export async function sendTargets(home: Home, targets: Targets): Promise<Sent> {
  const { store, api } = home;
  const completed = new Map(
    [...targets].map(([id, command]) => [
      id,
      levelMemory.complete(store.device(id).peek(), command),
    ]),
  );
  showPending(home, completed);
  const sent = await deliver(api, completed);
  const [done, failed] = [new Map<string, CommandBody>(), new Map<string, CommandBody>()];
  for (const [id, command] of completed) (sent.done.has(id) ? done : failed).set(id, command);
  endPending(home, failed);
  setTimeout(() => endPending(home, done), EVENT_MS);
  return sent;
}

async function deliver(api: Session["api"], targets: Targets): Promise<Sent> {
  try {
    const body = { targets: Object.fromEntries(targets) };
    const { results } = await api.post("/smart-home/commands", body, ANSWER_MS);
    const done = new Set<string>();
    let code: string | undefined;
    for (const { deviceId, status, error } of results) {
      if (status !== "failed") done.add(deviceId);
      else code ??= error?.code ?? "internal";
    }
    return code === undefined ? { done } : { done, code };
  } catch (error) {
    return { done: new Set(), code: error instanceof ApiError ? error.code : "internal" };
  }
}

const shown = new Map<string, CommandBody>();

function showPending({ store }: Home, targets: Targets): void {
  batch(() => {
    for (const [id, command] of targets) {
      shown.set(id, command);
      store.setPending(id, command);
    }
  });
}

/** Ends the pending values that are still these. */
function endPending({ store }: Home, targets: Targets): void {
  batch(() => {
    for (const [id, command] of targets) {
      if (shown.get(id) !== command) continue;
      shown.delete(id);
      store.setPending(id, {});
    }
  });
}

/** Sends the levels of a drag: one request at a time and at most ten a second, always with the last levels. */
export class DragSender {
  readonly #home: Home;
  #waiting = new Map<string, CommandBody>();
  #running: Promise<void> | undefined;

  constructor(home: Home) {
    this.#home = home;
  }

  /** Resolves when everything that was sent is answered. */
  send(targets: Targets): Promise<void> {
    for (const [id, command] of targets) {
      this.#waiting.set(id, mergeCommands(this.#waiting.get(id) ?? {}, command));
    }
    showPending(this.#home, this.#waiting);
    this.#running ??= this.#run();
    return this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting.size > 0) {
      const targets = this.#waiting;
      this.#waiting = new Map();
      const pause = new Promise((resolve) => setTimeout(resolve, DRAG_STEP_MS));
      await sendTargets(this.#home, targets);
      await pause;
    }
    this.#running = undefined;
  }
}
