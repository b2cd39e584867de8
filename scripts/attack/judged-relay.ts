import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const VIOLATIONS = "sl-violations";
/** Answers of 5xx that are deliberate: a module, bridge or broker is down, slow, or the disk is full. */
const DELIBERATE = new Set([503, 504, 507]);
const SHOWN = 10;

/** The faults that a judge has found in the answers of a host. */
export interface JudgedCount {
  readonly asked: number;
  /** Answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Answers that are not in the document, or are 5xx without being meant. */
  readonly faulty: number;
  /** The first of these. */
  readonly shown: readonly string[];
}

/**
 * Stands before a judging proxy, brings requests a valid token in place of theirs, and counts what the
 * judge says of the answers.
 */
export class JudgedRelay {
  readonly #fetchToken: () => Promise<string>;
  readonly #server = createServer((asked, answer) => void this.#relay(asked, answer));
  readonly #statuses = new Map<number, number>();
  readonly #shown: string[] = [];
  #faulty = 0;
  #port = 0;
  #token: Promise<string> | undefined;

  constructor(fetchToken: () => Promise<string>) {
    this.#fetchToken = fetchToken;
  }

  /** Its own address; `port` is that of the judge. */
  async listen(port: number): Promise<string> {
    this.#port = port;
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  get count(): JudgedCount {
    const asked = [...this.#statuses.values()].reduce((all, each) => all + each, 0);
    const statuses = Object.fromEntries(this.#statuses);
    return { asked, statuses, faulty: this.#faulty, shown: this.#shown };
  }

  async #relay(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { method = "GET", url = "/" } = asked;
    const headers = { ...asked.headers, host: `127.0.0.1:${this.#port}` };
    if (headers.authorization) headers.authorization = `Bearer ${await this.#validToken()}`;
    const judged = request({ port: this.#port, host: "127.0.0.1", method, path: url, headers });
    judged.once("error", () => answer.destroy());
    judged.once("response", (response) => {
      this.#note(`${method} ${url}`, response);
      answer.writeHead(response.statusCode ?? 0, response.headers);
      response.pipe(answer);
    });
    asked.pipe(judged);
  }

  #validToken(): Promise<string> {
    this.#token ??= this.#fetchToken();
    return this.#token;
  }

  #note(what: string, { statusCode: status = 0, headers }: IncomingMessage): void {
    this.#statuses.set(status, 1 + (this.#statuses.get(status) ?? 0));
    if (status === 401) this.#token = undefined;
    const violations = String(headers[VIOLATIONS] ?? "");
    const isMeant = status < 500 || DELIBERATE.has(status);
    if (isMeant && !violations.includes(`"response"`)) return;
    this.#faulty++;
    if (this.#shown.length < SHOWN) this.#shown.push(`${what}: ${status} ${violations}`);
  }
}
