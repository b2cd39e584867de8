import { setInterval as every } from "node:timers/promises";
import { MantelError, withDeadline } from "@mantel/plugin-sdk";
import {
  Connection,
  ERR_CONNECTION_LOST,
  type HaWebSocket,
  type MessageBase,
} from "home-assistant-js-websocket";
import { record } from "./entities.ts";
import type { Address } from "./options.ts";
import { type GuardedSocket, openSocket } from "./socket.ts";

const ANSWER_MS = 10_000;
const PING_EVERY_MS = 10_000;
const PONG_MS = 5_000;
const LOST = "the connection was lost";

/** The id that the library leaves free for this message: several messages may come as one array. */
const COALESCE = { id: 1, type: "supported_features", features: { coalesce_messages: 1 } };

/** User-facing names of requests, by message type. */
const ASKED: Readonly<Record<string, string>> = {
  subscribe_entities: "its entities",
  get_states: "its entities",
  get_config: "its settings",
  subscribe_events: "changes of names and rooms",
  "config/entity_registry/list": "the names of its entities",
  "config/device_registry/list": "its devices",
  "config/area_registry/list": "its areas",
};

/** Home Assistant's own refusal of a message, or the loss of the connection. */
export class Refused extends Error {
  override readonly name = "Refused";
  /** For example `not_found` or `unauthorized`; empty if the connection was lost. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** One connection, from its sign-in to its loss. */
export class Session {
  /** User-facing reason why the connection ended. */
  readonly lost: Promise<string>;
  readonly version: string;
  readonly #socket: GuardedSocket;
  readonly #connection: Connection;
  /** User-facing names of pending requests, by the function that rejects their answer. */
  readonly #untold = new Map<(error: Refused) => void, string>();

  private constructor(socket: GuardedSocket) {
    this.#socket = socket;
    this.version = socket.haVersion;
    socket.send(JSON.stringify(COALESCE));
    this.#connection = new Connection(socket as unknown as HaWebSocket, {
      setupRetry: 0,
      createSocket: () => Promise.reject(new Error("a session has one socket")),
    });
    this.#connection.closeRequested = true; // it shall not connect again by itself
    this.lost = new Promise((resolve) => {
      socket.addEventListener("close", ({ reason }) => {
        // the library leaves a subscription alone that was not answered
        for (const lose of this.#untold.keys()) lose(new Refused("", LOST));
        resolve(reason || LOST);
      });
    });
  }

  /** @throws MantelError `bridge_down`, with a user-facing reason */
  static async open(address: Address, signal: AbortSignal): Promise<Session> {
    return new Session(await openSocket(address, signal));
  }

  /**
   * Sends a message and gives its result.
   * @throws Refused; MantelError `deadline_passed`, saying what is not told
   */
  async ask(message: MessageBase): Promise<unknown> {
    return this.told(message, this.#connection.sendMessagePromise(message).catch(refuse));
  }

  /** Hears the events of a subscription until the session ends. @throws as `ask` */
  async subscribe(message: MessageBase, hear: (event: unknown) => void): Promise<void> {
    const options = { resubscribe: false };
    await this.told(
      message,
      this.#connection.subscribeMessage(hear, message, options).catch(refuse),
    );
  }

  /** Waits for what a message asks for. @throws as `ask` */
  async told<T>({ type }: MessageBase, answer: Promise<T>): Promise<T> {
    const what = ASKED[type] ?? `the end of ${type}`;
    let lose: (error: Refused) => void = () => undefined;
    const lost = new Promise<never>((_, reject) => (lose = reject));
    this.#untold.set(lose, what);
    try {
      return await withDeadline(Promise.race([answer, lost]), ANSWER_MS, type);
    } catch (error) {
      if (!(error instanceof MantelError)) throw error;
      throw new MantelError("deadline_passed", missingReports([what]), { cause: error });
    } finally {
      this.#untold.delete(lose);
    }
  }

  /** A sentence with the pending requests; `undefined` if all have been answered. */
  get untold(): string | undefined {
    return this.#untold.size === 0
      ? undefined
      : missingReports([...new Set(this.#untold.values())]);
  }

  /** Ends the session when the other side stops answering, which a socket alone may never tell. */
  async watch(signal: AbortSignal): Promise<void> {
    const beats = every(PING_EVERY_MS, undefined, { signal });
    try {
      for await (const _ of beats) {
        await withDeadline(this.#connection.ping(), PONG_MS, "a ping");
      }
    } catch {
      this.#socket.close("it does not answer any more");
    }
  }

  /** `reason` is the user-facing reason passed to `lost`. */
  close(reason?: string): void {
    this.#socket.close(reason);
  }
}

function missingReports(what: readonly string[]): string {
  return `Home Assistant does not report ${what.join(", ")}: restart it if that lasts`;
}

/**
 * The library rejects with what the other side gave as error, which may be anything, and for a lost connection
 * with a number, or with a message of its own that has that number.
 */
function refuse(error: unknown): never {
  const { code: lost } = record(record(error)["error"]);
  if (error === ERR_CONNECTION_LOST || lost === ERR_CONNECTION_LOST) {
    throw new Refused("", LOST);
  }
  const { code, message } = record(error);
  if (typeof code !== "string") throw new Refused("unknown", "it refuses, and does not say why");
  throw new Refused(code, (typeof message === "string" ? message : code).slice(0, 300));
}

/** The error for a refused request. */
export function toMantelError(error: unknown): MantelError {
  if (error instanceof MantelError) return error;
  const { code, message } = error as Refused;
  const isWrong = ["invalid_format", "service_validation_error", "not_supported"].includes(code);
  return new MantelError(isWrong ? "invalid" : "bridge_down", `Home Assistant: ${message}`, {
    cause: error,
  });
}
