import { setInterval as every } from "node:timers/promises";
import { MantelError, withDeadline } from "@mantel/plugin-sdk";
import { Connection, type HaWebSocket, type MessageBase } from "home-assistant-js-websocket";
import type { Address } from "./options.ts";
import { openSocket } from "./socket.ts";

const ANSWER_MS = 10_000;
const PING_EVERY_MS = 10_000;
const PONG_MS = 5_000;

/** The id that the library leaves free for this message: several messages may come as one array. */
const COALESCE = { id: 1, type: "supported_features", features: { coalesce_messages: 1 } };

/** Home Assistant's own refusal of a message, or the loss of the connection. */
export class Refused extends Error {
  override readonly name = "Refused";
  /** Such as `not_found` or `unauthorized`; empty when the connection was lost. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** One connection, from its sign-in to its loss. */
export class Session {
  /** Why the connection ended, for people. */
  readonly lost: Promise<string>;
  readonly version: string;
  readonly #socket: HaWebSocket;
  readonly #connection: Connection;

  private constructor(socket: HaWebSocket) {
    this.#socket = socket;
    this.version = socket.haVersion;
    socket.send(JSON.stringify(COALESCE));
    this.#connection = new Connection(socket, {
      setupRetry: 0,
      createSocket: () => Promise.reject(new Error("a session has one socket")),
    });
    this.#connection.closeRequested = true; // it shall not connect again by itself
    this.lost = new Promise((resolve) => {
      socket.addEventListener("close", ({ reason }) =>
        resolve(reason || "the connection was lost"),
      );
    });
  }

  /** @throws MantelError `bridge_down`, with the reason for people */
  static async open(address: Address, signal: AbortSignal): Promise<Session> {
    return new Session(await openSocket(address, signal));
  }

  /**
   * Sends a message and gives its result.
   * @throws Refused; MantelError `deadline_passed`
   */
  async ask(message: MessageBase): Promise<unknown> {
    const answer = this.#connection.sendMessagePromise(message).catch(refuse);
    return withDeadline(answer, ANSWER_MS, `${message.type} at Home Assistant`);
  }

  /** Hears the events of a subscription until the session ends. @throws as `ask` */
  async subscribe(message: MessageBase, hear: (event: unknown) => void): Promise<void> {
    const options = { resubscribe: false };
    const begun = this.#connection.subscribeMessage(hear, message, options).catch(refuse);
    await withDeadline(begun, ANSWER_MS, `${message.type} at Home Assistant`);
  }

  /** Ends the session when the other side stops answering, which a socket alone may never tell. */
  async watch(signal: AbortSignal): Promise<void> {
    const beats = every(PING_EVERY_MS, undefined, { signal });
    try {
      for await (const _ of beats) {
        await withDeadline(this.#connection.ping(), PONG_MS, "a ping");
      }
    } catch {
      this.close();
    }
  }

  close(): void {
    this.#socket.close();
  }
}

/** The library rejects with what the other side sent, or with a number. */
function refuse(error: unknown): never {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code !== "string") throw new Refused("", "the connection was lost");
  throw new Refused(code, (typeof message === "string" ? message : code).slice(0, 300));
}

/** What a refusal means to whoever asked for something. */
export function toMantelError(error: unknown): MantelError {
  if (error instanceof MantelError) return error;
  const { code, message } = error as Refused;
  const isWrong = ["invalid_format", "service_validation_error", "not_supported"].includes(code);
  return new MantelError(isWrong ? "invalid" : "bridge_down", `Home Assistant: ${message}`, {
    cause: error,
  });
}
