import { setImmediate, setTimeout as delay } from "node:timers/promises";
import { MantelError } from "../errors.ts";
import { fromWire, type Message, NotBegun, parseMessage, toWire } from "./wire.ts";

export { NotBegun, RemoteFault, remoteStackOf } from "./wire.ts";

/** Sends messages to the other end: a process's channel, or an in-memory pair. */
export interface Transport {
  /**
   * Sends a message. `written` is called when the message will reach the other end even if this process ends. `failed`
   * is called if a message that is encoded later is not JSON, or too long.
   * @throws TypeError, RangeError if a message that is encoded now is not JSON, or too long
   */
  send(message: Message, written?: () => void, failed?: (error: Error) => void): void;
  onMessage(receive: (message: unknown) => void): void;
}

/**
 * Reports to the other end that the work of a call begins. Resolves when the report can no longer be lost. If the
 * call is never answered after that, it may have been executed.
 */
export type Begin = () => Promise<void>;

/** A handler for each method that the other end may call. */
export type Handlers<Api> = {
  readonly [M in keyof Api]: Api[M] extends (input: infer I) => Promise<infer R>
    ? (input: I, begin: Begin) => R | Promise<R>
    : never;
};

type Method = (input: never, begin: Begin) => Promise<unknown>;
type Input<F> = F extends (input: infer I) => Promise<unknown> ? I : never;
type Result<F> = F extends (input: never) => Promise<infer R> ? R : never;

interface Waiting {
  readonly method: string;
  readonly deadlineMs: number;
  /** Monotonic, in ms. */
  readonly endsAt: number;
  begun: boolean;
  readonly settle: (outcome: { value: unknown } | { error: Error }) => void;
}

/** One end of an RPC channel. `Remote` is the API of the other end, `Local` the API of this end. */
export class Peer<Remote extends object, Local extends object> {
  readonly #transport: Transport;
  readonly #handlers: ReadonlyMap<string, Method>;
  readonly #waiting = new Map<number, Waiting>();
  /** One timer for all calls: a plugin's process records the stack of each new one, to find what is left open. */
  #timer: NodeJS.Timeout | undefined;
  #firesAt = Infinity;
  #lastCall = 0;
  #closed: Error | undefined;
  #answering = 0;
  readonly #keepsStacks: boolean;

  /**
   * With `keepsStacks` the other end gets errors without their stacks. The host's stacks are not for plugins, and the
   * first one that is read makes Node decode the source map of the whole host, which it keeps.
   */
  constructor(
    transport: Transport,
    handlers: Handlers<Local>,
    { keepsStacks = false }: { readonly keepsStacks?: boolean } = {},
  ) {
    this.#keepsStacks = keepsStacks;
    this.#transport = transport;
    this.#handlers = new Map(Object.entries(handlers) as [string, Method][]);
    transport.onMessage((message) => this.#receive(message));
  }

  /** True while a call of the other end is being answered. */
  get isAnswering(): boolean {
    return this.#answering > 0;
  }

  /**
   * Calls a method of the other end.
   * @throws MantelError an expected failure from the other end, or `deadline_passed`
   * @throws RemoteFault if the other end's code threw anything else
   * @throws NotBegun if the other end ended before it reported that the work begins
   */
  call<M extends keyof Remote & string>(
    method: M,
    input: Input<Remote[M]>,
    deadlineMs: number,
  ): Promise<Result<Remote[M]>> {
    if (this.#closed) return Promise.reject(new NotBegun());
    const call = ++this.#lastCall;
    const endsAt = performance.now() + deadlineMs;
    return new Promise((resolve, reject) => {
      this.#waiting.set(call, {
        method,
        deadlineMs,
        endsAt,
        begun: false,
        settle: (outcome) => {
          this.#waiting.delete(call);
          if (this.#waiting.size === 0) this.#timer?.unref();
          if ("error" in outcome) reject(outcome.error);
          else resolve(outcome.value as Result<Remote[M]>);
        },
      });
      this.#expireBy(endsAt);
      const fail = (error: Error) => this.#waiting.get(call)?.settle({ error });
      try {
        this.#transport.send({ kind: "call", call, method, input }, undefined, fail);
      } catch (error) {
        fail(error as Error); // the input is not JSON, or too long
      }
    });
  }

  /**
   * Calls a method of the other end without waiting for an answer. A failure of the method is not reported back.
   * @throws TypeError, RangeError immediately if the input is not JSON or too long
   */
  notify<M extends keyof Remote & string>(method: M, input: Input<Remote[M]>): void {
    if (!this.#closed) this.#transport.send({ kind: "call", method, input });
  }

  /**
   * Resolves in a later turn of the event loop, when no call of these methods waits for its answer; at the latest
   * after `longestMs`. A rejection that nothing handles has ended the process by then.
   */
  async quiet(methods: readonly (keyof Remote)[], longestMs: number): Promise<void> {
    const endsAt = performance.now() + longestMs;
    const awaited: ReadonlySet<PropertyKey> = new Set(methods);
    const isWaiting = (): boolean =>
      [...this.#waiting.values()].some(({ method }) => awaited.has(method));
    while (isWaiting() && performance.now() < endsAt) await delay(1);
    await setImmediate();
  }

  /** Rejects all running calls with `reason`, and all calls that have not begun, now and later, with NotBegun. */
  close(reason: Error): void {
    this.#closed ??= reason;
    for (const { begun, settle } of [...this.#waiting.values()]) {
      settle({ error: begun ? this.#closed : new NotBegun() });
    }
    clearTimeout(this.#timer);
  }

  /** Lets the timer fire at that time or before, and keep the process alive. */
  #expireBy(endsAt: number): void {
    if (endsAt >= this.#firesAt) return void this.#timer?.ref();
    clearTimeout(this.#timer);
    this.#firesAt = endsAt;
    this.#timer = setTimeout(() => this.#expire(), Math.ceil(endsAt - performance.now()));
  }

  /** Rejects the calls whose deadline has passed. The timer may be that of a call that was answered. */
  #expire(): void {
    this.#firesAt = Infinity;
    this.#timer = undefined;
    const now = performance.now();
    const inOrder = [...this.#waiting.values()].toSorted((a, b) => a.endsAt - b.endsAt);
    for (const { method, deadlineMs, endsAt, settle } of inOrder) {
      if (endsAt > now) return this.#expireBy(endsAt);
      const sentence = `${method} timed out after ${deadlineMs} ms`;
      settle({ error: new MantelError("deadline_passed", sentence) });
    }
  }

  /** Ignores invalid messages: a malformed call gets no answer. */
  #receive(data: unknown): void {
    const message = parseMessage(data);
    if (!message) return;
    if (message.kind === "call") {
      void this.#answer(message);
      return;
    }
    const waiting = this.#waiting.get(message.call);
    if (!waiting) return;
    if (message.kind === "begun") waiting.begun = true;
    else if (message.kind === "answer") waiting.settle({ value: message.value });
    else waiting.settle({ error: fromWire(message.error) });
  }

  /** @throws TypeError if the method's result is not JSON */
  #send(answer: Extract<Message, { kind: "answer" }>, method: string): void {
    try {
      this.#transport.send(answer);
    } catch (cause) {
      if (!(cause instanceof TypeError)) throw cause; // for example, the result is too long
      throw new TypeError(`the result of ${method} is not plain data (JSON): ${cause.message}`, {
        cause,
      });
    }
  }

  /** @see Begin */
  #begin(call: number | undefined): Promise<void> {
    if (call === undefined) return Promise.resolve();
    return new Promise((resolve) => this.#transport.send({ kind: "begun", call }, resolve));
  }

  /** Never rejects, because no caller could handle the error. */
  async #answer({ call, method, input }: Extract<Message, { kind: "call" }>): Promise<void> {
    this.#answering++;
    try {
      const handler = this.#handlers.get(method);
      if (!handler) throw new MantelError("not_found", `unknown method ${method}`);
      const value = await handler(input as never, () => this.#begin(call));
      if (call !== undefined && !this.#closed) this.#send({ kind: "answer", call, value }, method);
    } catch (error) {
      if (call !== undefined) this.#fail(call, method, error);
    } finally {
      this.#answering--;
    }
  }

  /** Reports a failed call. If the error itself cannot be sent, reports only that the call failed. */
  #fail(call: number, method: string, error: unknown): void {
    const unspeakable = new TypeError(`${method} failed, and its error cannot be sent`);
    for (const each of [error, unspeakable]) {
      try {
        const sent = toWire(each, this.#keepsStacks);
        if (!this.#closed) this.#transport.send({ kind: "failure", call, error: sent });
        return;
      } catch {
        // The first error may contain data that is not JSON. If the second fails too, the call times out.
      }
    }
  }
}
