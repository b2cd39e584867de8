import { MantelError } from "@mantel/plugin-sdk";
import { type RawData, WebSocket } from "ws";
import { type Address, socketUrl } from "./options.ts";

/** From the first packet to the end of the sign-in. */
const OPEN_MS = 5_000;
/** The states of 5,000 entities are about 5 MiB. A longer message ends the connection. */
const MAX_BYTES = 16 * 2 ** 20;

/** Home Assistant knows the token no more. It counts such attempts, and may ban who makes many. */
export class TokenRefused extends MantelError {
  constructor() {
    super("bridge_down", "Home Assistant refuses the access token: make a new one there");
  }
}

/**
 * A signed-in socket, for the library's `Connection`. The library has an opener too, but one that needs
 * a global WebSocket, has no bound on what comes in, and gives no reasons.
 *
 * @throws TokenRefused; MantelError `bridge_down`, with a user-facing reason
 */
export async function openSocket(address: Address, signal: AbortSignal): Promise<GuardedSocket> {
  const { url, token, ca } = address;
  const socket = new WebSocket(socketUrl(url), {
    maxPayload: MAX_BYTES,
    perMessageDeflate: false, // what is small on the wire might not be small here
    handshakeTimeout: OPEN_MS,
    ...(ca === undefined ? {} : { ca }),
  });
  const stop = () => socket.terminate();
  signal.addEventListener("abort", stop);
  socket.once("close", () => signal.removeEventListener("abort", stop));
  try {
    const version = await signIn(socket, token);
    return new GuardedSocket(socket, version);
  } catch (error) {
    socket.terminate();
    if (error instanceof MantelError) throw error;
    throw new MantelError("bridge_down", awayReason(error as NodeJS.ErrnoException, url), {
      cause: error,
    });
  }
}

/** Resolves with the version of Home Assistant once it has taken the token. */
function signIn(socket: WebSocket, token: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("it does not finish the sign-in")), OPEN_MS);
    socket.once("close", () => clearTimeout(late));
    socket.on("error", reject); // stays: an error without a listener would end the process
    socket.once("close", () => reject(new Error("it closed the connection")));
    const hear = (data: RawData): void => {
      const { type, ha_version: version } = parse(data);
      if (type === "auth_required") {
        socket.send(JSON.stringify({ type: "auth", access_token: token }));
      } else if (type === "auth_invalid") {
        reject(new TokenRefused());
      } else if (type === "auth_ok") {
        clearTimeout(late);
        socket.off("message", hear);
        resolve(typeof version === "string" ? version.slice(0, 50) : "0");
      }
    };
    socket.on("message", hear);
  });
}

function parse(data: RawData): Record<string, unknown> {
  try {
    const message = JSON.parse(textOf(data)) as unknown;
    return typeof message === "object" && message !== null ? { ...message } : {};
  } catch {
    return {};
  }
}

/** Received data is always one buffer, because the socket is configured for that. */
function textOf(data: RawData): string {
  return Buffer.isBuffer(data) ? data.toString() : "";
}

type Listener = (event: { data?: string; reason?: string }) => void;

/**
 * The part of a browser's WebSocket that the library uses. A message that it cannot bear is dropped; after
 * half a one nobody knows what was in the rest, and the socket is closed.
 */
export class GuardedSocket {
  readonly haVersion: string;
  readonly OPEN = WebSocket.OPEN;
  /** The number of messages that could not be read. */
  dropped = 0;
  readonly #socket: WebSocket;
  /** The reason why it ended, as far as that is known on this side. */
  #reason: string | undefined;

  constructor(socket: WebSocket, haVersion: string) {
    this.#socket = socket;
    this.haVersion = haVersion;
    socket.on("error", ({ message }) => (this.#reason ??= message));
  }

  get readyState(): number {
    return this.#socket.readyState;
  }

  send(text: string): void {
    this.#socket.send(text);
  }

  close(reason?: string): void {
    this.#reason ??= reason;
    this.#socket.terminate();
  }

  addEventListener(type: "message" | "close", listener: Listener): void {
    if (type === "close") {
      this.#socket.once("close", (_, reason) =>
        listener({ reason: this.#reason ?? String(reason) }),
      );
      return;
    }
    this.#socket.on("message", (data) => {
      try {
        listener({ data: textOf(data) });
      } catch (error) {
        if (error instanceof SyntaxError) this.close("it sends invalid JSON");
        else this.dropped++;
      }
    });
  }

  removeEventListener(): void {
    // only a forced reconnect of the library uses it, which never happens here
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing answers at that address",
  ECONNRESET: "it hung up",
  ENOTFOUND: "its name is not known",
  EAI_AGAIN: "its name could not be looked up",
  EHOSTUNREACH: "that address is unreachable",
  ENETUNREACH: "that address is unreachable",
  ETIMEDOUT: "it does not answer",
  "Opening handshake has timed out": "it does not finish the sign-in",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is not trusted; give it under ca",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate is not trusted; give it under ca",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate is not trusted; give it under ca",
  CERT_HAS_EXPIRED: "its certificate has expired",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name",
};

/** A sentence that names the address and why it could not be reached. */
export function awayReason(error: NodeJS.ErrnoException, url: string): string {
  const status = /^Unexpected server response: (\d+)$/.exec(error.message)?.[1];
  const reason =
    status === undefined
      ? (REASONS[error.code ?? error.message] ?? error.message)
      : `it answers ${status}, and not as Home Assistant does`;
  return `Home Assistant at ${new URL(url).host} cannot be reached: ${reason}`;
}
