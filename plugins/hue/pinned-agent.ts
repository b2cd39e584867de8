import { createHash, type X509Certificate } from "node:crypto";
import { once } from "node:events";
import { Agent, type RequestOptions } from "node:https";
import type { Duplex } from "node:stream";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import { MantelError } from "@mantel/plugin-sdk";

const HANDSHAKE_MS = 5_000;

/**
 * The expected bridge of a connection. Without a fingerprint, any certificate with its id is
 * accepted.
 */
export interface Pin {
  readonly id?: string;
  readonly fingerprint?: string;
}

/**
 * Connections to one bridge. Bridges use self-signed certificates, so each one is compared with the
 * one seen at pairing, before any part of a request, especially the key, is sent.
 */
export class PinnedAgent extends Agent {
  readonly #pin: Pin;
  readonly #connecting = new Set<TLSSocket>();

  constructor(pin: Pin) {
    super({ keepAlive: true });
    this.#pin = pin;
  }

  override createConnection(
    options: RequestOptions,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    // The identity is checked below, more strictly than by an authority.
    const socket = connect({ ...(options as ConnectionOptions), rejectUnauthorized: false });
    const settle = (error: Error | null) => {
      socket.removeAllListeners("error").setTimeout(0);
      this.#connecting.delete(socket);
      if (error) socket.on("error", () => undefined).destroy();
      callback?.(error, socket);
    };
    this.#connecting.add(socket);
    socket.setTimeout(HANDSHAKE_MS, () =>
      socket.destroy(new Error("the handshake takes too long")),
    );
    socket.once("error", settle);
    socket.once("secureConnect", () => settle(mismatch(this.#pin, socket) ?? null));
  }

  override destroy(): void {
    for (const socket of this.#connecting) socket.destroy(new Error("the connection was given up"));
    super.destroy();
  }
}

/** The user-facing reason why a certificate does not match. */
function mismatch({ id, fingerprint }: Pin, socket: TLSSocket): MantelError | undefined {
  const certificate = socket.getPeerX509Certificate();
  if (!certificate) return new MantelError("bridge_down", "it shows no certificate");
  const shown = fingerprintOf(certificate);
  if (fingerprint !== undefined && shown !== fingerprint) {
    return new MantelError(
      "bridge_down",
      `its certificate has changed: ${fingerprint} was seen at pairing and it shows ${shown} now; pair it again if it was replaced or reset, or else look for what answers in its place`,
    );
  }
  const name = commonNameOf(certificate);
  if (id === undefined || name === id) return undefined;
  return new MantelError(
    "bridge_down",
    `its certificate is that of ${name || "nobody"}, and not of ${id}`,
  );
}

/**
 * The id and the fingerprint of the certificate that is shown at an address, whosever it is.
 * @throws what the network has against it
 */
export async function shownAt(host: string, port: number): Promise<Required<Pin>> {
  const socket = connect({ host, port, rejectUnauthorized: false });
  try {
    socket.setTimeout(HANDSHAKE_MS, () => socket.destroy(new Error("it takes too long")));
    await once(socket, "secureConnect");
    const certificate = socket.getPeerX509Certificate();
    if (!certificate) throw new MantelError("bridge_down", "it shows no certificate");
    return { id: commonNameOf(certificate), fingerprint: fingerprintOf(certificate) };
  } finally {
    socket.destroy();
  }
}

/** SHA-256 of a certificate, in hexadecimal digits. */
function fingerprintOf({ raw }: X509Certificate): string {
  return createHash("sha256").update(raw).digest("hex");
}

/** The name that a certificate is for, which is the id of the bridge, in lower case. */
function commonNameOf({ subject }: X509Certificate): string {
  return (/^CN=(.*)$/m.exec(subject ?? "")?.[1] ?? "").toLowerCase().slice(0, 64);
}
