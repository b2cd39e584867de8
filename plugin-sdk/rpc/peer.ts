import { MantelError } from "../errors.ts";
import { fromWire, type Message, toWire } from "./wire.ts";

export { RemoteFault } from "./wire.ts";

/** How messages get to the other end. Both sides of a process's channel fit, and a pair in memory. */
export interface Transport {
  send(message: Message): void;
  onMessage(receive: (message: unknown) => void): void;
}

/** One method for each call the other end may make; the names are those of the protocol. */
export type Handlers<Api> = {
  readonly [M in keyof Api]: Api[M] extends (input: infer I) => Promise<infer R>
    ? (input: I) => R | Promise<R>
    : never;
};

type Method = (input: never) => Promise<unknown>;
type Input<F> = F extends (input: infer I) => Promise<unknown> ? I : never;
type Result<F> = F extends (input: never) => Promise<infer R> ? R : never;

interface Waiting {
  readonly settle: (outcome: { value: unknown } | { error: Error }) => void;
}

/** One end of a call channel: `Remote` is what the other end offers, `Local` what this end does. */
export class Peer<Remote extends object, Local extends object> {
  readonly #transport: Transport;
  readonly #handlers: ReadonlyMap<string, Method>;
  readonly #waiting = new Map<number, Waiting>();
  #lastCall = 0;
  #closed: Error | undefined;

  constructor(transport: Transport, handlers: Handlers<Local>) {
    this.#transport = transport;
    this.#handlers = new Map(Object.entries(handlers) as [string, Method][]);
    transport.onMessage((message) => this.#receive(message));
  }

  /**
   * Calls the other end.
   * @throws MantelError the expected failure of the other end, or `deadline_passed`
   * @throws RemoteFault when the other end's code threw anything else
   */
  call<M extends keyof Remote & string>(
    method: M,
    input: Input<Remote[M]>,
    deadlineMs: number,
  ): Promise<Result<Remote[M]>> {
    if (this.#closed) return Promise.reject(this.#closed);
    const call = ++this.#lastCall;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(call);
        reject(new MantelError("deadline_passed", `${method} did not end within ${deadlineMs} ms`));
      }, deadlineMs);
      this.#waiting.set(call, {
        settle: (outcome) => {
          clearTimeout(timer);
          this.#waiting.delete(call);
          if ("error" in outcome) reject(outcome.error);
          else resolve(outcome.value as Result<Remote[M]>);
        },
      });
      try {
        this.#transport.send({ kind: "call", call, method, input });
      } catch (error) {
        const cause = error as Error; // what is no JSON cannot be sent
        this.#waiting.get(call)?.settle({ error: cause });
      }
    });
  }

  /** Calls the other end and wants no answer; a failure there stays there. */
  notify<M extends keyof Remote & string>(method: M, input: Input<Remote[M]>): void {
    if (!this.#closed) this.#transport.send({ kind: "call", method, input });
  }

  /** Fails every call that waits, and all later ones, with `reason`. */
  close(reason: Error): void {
    this.#closed ??= reason;
    for (const { settle } of [...this.#waiting.values()]) settle({ error: this.#closed });
  }

  #receive(data: unknown): void {
    const message = data as Message;
    if (message?.kind === "call") void this.#answer(message);
    else if (message?.kind === "answer") {
      this.#waiting.get(message.call)?.settle({ value: message.value });
    } else if (message?.kind === "failure") {
      this.#waiting.get(message.call)?.settle({ error: fromWire(message.error) });
    }
  }

  async #answer({ call, method, input }: Extract<Message, { kind: "call" }>): Promise<void> {
    try {
      const handler = this.#handlers.get(method);
      if (!handler) throw new MantelError("not_found", `there is no call named ${method}`);
      const value = await handler(input as never);
      if (call !== undefined && !this.#closed) {
        this.#transport.send({ kind: "answer", call, value });
      }
    } catch (error) {
      if (call !== undefined && !this.#closed) {
        this.#transport.send({ kind: "failure", call, error: toWire(error) });
      }
    }
  }
}
