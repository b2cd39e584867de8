import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

/** A server that also closes its connections when it closes. */
export class Listener {
  readonly #sockets = new Set<Socket>();
  readonly #host: string;
  readonly #server;

  constructor(host: string, accept: (socket: Socket) => void) {
    this.#host = host;
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
      accept(socket);
    });
  }

  /** Listens on `port`, or on a free one if that is taken or not permitted. Returns the port. */
  async open(port: number): Promise<number> {
    try {
      return await this.#listen(port);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EADDRINUSE" && code !== "EACCES") throw error;
      return this.#listen(0);
    }
  }

  /** Closes every connection, including those without any data yet. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #listen(port: number): Promise<number> {
    const listening = once(this.#server, "listening");
    this.#server.listen(port, this.#host);
    await listening; // rejects with the server's error
    return (this.#server.address() as AddressInfo).port;
  }
}
