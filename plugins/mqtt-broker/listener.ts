import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

const LOOPBACK = "127.0.0.1";

/** A server on loopback that, when it closes, ends its connections as well. */
export class Listener {
  readonly #sockets = new Set<Socket>();
  readonly #server;

  constructor(accept: (socket: Socket) => void) {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
      accept(socket);
    });
  }

  /** Listens on `port`, or on a free one when that is taken or not permitted; gives the port. */
  async open(port: number): Promise<number> {
    try {
      return await this.#listen(port);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EADDRINUSE" && code !== "EACCES") throw error;
      return this.#listen(0);
    }
  }

  /** Ends every connection, those of clients that have said nothing yet included. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #listen(port: number): Promise<number> {
    const listening = once(this.#server, "listening");
    this.#server.listen(port, LOOPBACK);
    await listening; // rejects with the server's error
    return (this.#server.address() as AddressInfo).port;
  }
}
