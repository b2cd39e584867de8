import { MantelError } from "../errors.ts";
import { fromWire, type Message, NotBegun, toWire } from "./wire.ts";

export { NotBegun, RemoteFault, remoteStackOf } from "./wire.ts";

/** How messages get to the other end. Both sides of a process's channel fit, and a pair in memory. */
export interface Transport {
  /** `written` is called when the message reaches the other end whatever happens to this one. */
  send(message: Message, written?: () => void): void;
  onMessage(receive: (message: unknown) => void): void;
}

/**
 * Tells the other end that a call's work begins, and resolves when that can no longer be lost. From
 * then on a call whose end is never heard may have been carried out.
 */
export type Begin = () => Promise<void>;

/** One method for each call the other end may make; the names are those of the protocol. */
export type Handlers<Api> = {
  readonly [M in keyof Api]: Api[M] extends (input: infer I) => Promise<infer R>
    ? (input: I, begin: Begin) => R | Promise<R>
    : never;
};

type Method = (input: never, begin: Begin) => Promise<unknown>;
type Input<F> = F extends (input: infer I) => Promise<unknown> ? I : never;
type Result<F> = F extends (input: never) => Promise<infer R> ? R : never;

interface Waiting {
  begun: boolean;
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
   * @throws NotBegun when the other end went before it told of the call's beginning
   */
  call<M extends keyof Remote & string>(
    method: M,
    input: Input<Remote[M]>,
    deadlineMs: number,
  ): Promise<Result<Remote[M]>> {
    if (this.#closed) return Promise.reject(new NotBegun());
    const call = ++this.#lastCall;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(call);
        reject(new MantelError("deadline_passed", `${method} did not end within ${deadlineMs} ms`));
      }, deadlineMs);
      this.#waiting.set(call, {
        begun: false,
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

  /** Fails every call that waits with `reason`, and those that have not begun, and later ones, with NotBegun. */
  close(reason: Error): void {
    this.#closed ??= reason;
    for (const { begun, settle } of [...this.#waiting.values()]) {
      settle({ error: begun ? this.#closed : new NotBegun() });
    }
  }

  #receive(data: unknown): void {
    const message = data as Message;
    if (message?.kind === "call") {
      void this.#answer(message);
      return;
    }
    const waiting = this.#waiting.get(message?.call);
    if (!waiting) return;
    if (message.kind === "begun") waiting.begun = true;
    else if (message.kind === "answer") waiting.settle({ value: message.value });
    else if (message.kind === "failure") waiting.settle({ error: fromWire(message.error) });
  }

  /** @throws TypeError when what a method gave is no JSON */
  #send(answer: Extract<Message, { kind: "answer" }>, method: string): void {
    try {
      this.#transport.send(answer);
    } catch (cause) {
      if (!(cause instanceof TypeError)) throw cause; // such as one that is too long
      throw new TypeError(`what ${method} gave is no plain data (JSON): ${cause.message}`, {
        cause,
      });
    }
  }

  /** @see Begin */
  #begin(call: number | undefined): Promise<void> {
    if (call === undefined) return Promise.resolve();
    return new Promise((resolve) => this.#transport.send({ kind: "begun", call }, resolve));
  }

  async #answer({ call, method, input }: Extract<Message, { kind: "call" }>): Promise<void> {
    try {
      const handler = this.#handlers.get(method);
      if (!handler) throw new MantelError("not_found", `there is no call named ${method}`);
      const value = await handler(input as never, () => this.#begin(call));
      if (call !== undefined && !this.#closed) this.#send({ kind: "answer", call, value }, method);
    } catch (error) {
      if (call !== undefined && !this.#closed) {
        this.#transport.send({ kind: "failure", call, error: toWire(error) });
      }
    }
  }
}
