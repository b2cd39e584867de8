import type { IncomingMessage } from "node:http";
import { request, type RequestOptions } from "node:https";
import { MantelError, Slots } from "@mantel/plugin-sdk";
import { type Pin, PinnedAgent } from "./pinned-agent.ts";
import { awayError, readJson, refusal } from "./refusal.ts";

/** A bridge refuses a fourth request at a time; the event stream is not one of them. */
const AT_ONCE = 3;
/** A change that waits for longer is not asked for: a slow bridge is told of, and not queued for. */
const LONGEST_WAIT_MS = 1_000;
const REQUEST_MS = 2_500;
/** All that a large home has is 1 MiB. Four of the worst JSON take 96 MiB once they are read. */
const LARGEST_BYTES = 4 * 2 ** 20;
const STREAM = "/eventstream/clip/v2";

export interface ClientOptions extends Pin {
  /** A host, with a port or without. */
  readonly address: string;
  /** Absent while there is none, before the pairing. */
  readonly applicationKey?: string;
}

/**
 * The HTTPS side of one bridge: CLIP v2, and the two calls before it that pairing needs. Every call ends
 * within its deadline, and rejects with `bridge_down`, `bridge_rate_limited` with `retryAfterMs`,
 * `deadline_passed`, `device_unknown` or, for what the bridge has against a body, `invalid`.
 */
export class Client {
  readonly #options: ClientOptions;
  readonly #requests: PinnedAgent;
  readonly #streams: PinnedAgent;
  readonly #slots = new Slots(AT_ONCE);

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#requests = new PinnedAgent(options);
    this.#streams = new PinnedAgent(options);
  }

  /** All resources there are. */
  getAll(deadlineMs: number): Promise<readonly unknown[]> {
    return this.#clip({ method: "GET", path: "", deadlineMs });
  }

  /** One resource, by its type and id. */
  get(path: string): Promise<readonly unknown[]> {
    return this.#clip({ method: "GET", path: `/${path}` });
  }

  /** Resolves when the bridge has taken the change, which the device may carry out later. */
  async put(path: string, body: object): Promise<void> {
    await this.#clip({ method: "PUT", path: `/${path}`, body });
  }

  /** A call of the interface before CLIP v2, which answers 200 whatever happens. */
  async call(method: string, path: string, body?: object): Promise<unknown> {
    const { answer } = await this.#send({ method, path, body });
    return answer;
  }

  /**
   * The event stream, from after `lastEventId` on. Whoever reads it ends it, by `signal`.
   * @throws MantelError when it is not open within the deadline
   */
  async openEvents(lastEventId: string | undefined, signal: AbortSignal): Promise<IncomingMessage> {
    const headers: Record<string, string> = {
      accept: "text/event-stream",
      ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
    };
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), REQUEST_MS);
    try {
      const until = AbortSignal.any([signal, late.signal]);
      const options = { path: STREAM, agent: this.#streams, signal: until };
      const stream = await this.#exchange(options, headers);
      if (stream.statusCode === 200) return stream;
      throw refusal(stream, await readJson(stream, LARGEST_BYTES).catch(() => undefined));
    } catch (error) {
      throw awayError(error, late.signal.aborted ? REQUEST_MS : undefined);
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#requests.destroy();
    this.#streams.destroy();
  }

  async #clip({ path, ...rest }: Call): Promise<readonly unknown[]> {
    const { response, answer } = await this.#send({ ...rest, path: `/clip/v2/resource${path}` });
    const { data } = (answer ?? {}) as { data?: unknown };
    // 207: some of the change was not made, and the answer says why
    if (response.statusCode === 200 && Array.isArray(data)) return data;
    throw refusal(response, answer);
  }

  /** One of a few requests at a time. A change that has waited for too long is not sent. */
  async #send(call: Call) {
    const asked = performance.now();
    await this.#slots.take();
    try {
      if (call.body && performance.now() - asked > LONGEST_WAIT_MS) {
        throw new MantelError("bridge_rate_limited", "the bridge is slow, and has enough to do", {
          retryAfterMs: LONGEST_WAIT_MS,
        });
      }
      return await this.#sendNow(call);
    } finally {
      this.#slots.giveBack();
    }
  }

  async #sendNow({ method, path, body, deadlineMs = REQUEST_MS }: Call) {
    const signal = AbortSignal.timeout(deadlineMs);
    const headers: Record<string, string> =
      body === undefined ? {} : { "content-type": "application/json" };
    try {
      const options = { method, path, agent: this.#requests, signal };
      const response = await this.#exchange(options, headers, body && JSON.stringify(body));
      return { response, answer: await readJson(response, LARGEST_BYTES) };
    } catch (error) {
      throw awayError(error, signal.aborted ? deadlineMs : undefined);
    }
  }

  #exchange(
    options: RequestOptions,
    headers: Readonly<Record<string, string>>,
    body?: string,
  ): Promise<IncomingMessage> {
    const { address, applicationKey } = this.#options;
    const key = applicationKey === undefined ? {} : { "hue-application-key": applicationKey };
    return new Promise((resolve, reject) => {
      const whole = { ...placeOf(address), ...options, headers: { ...headers, ...key } };
      request(whole, resolve).on("error", reject).end(body);
    });
  }
}

/** Where an address leads: `bridge.lan`, `10.0.0.7:8443` or `[fd00::7]`. */
export function placeOf(address: string): { host: string; port: number } {
  const { hostname, port } = new URL(`https://${address}`);
  return { host: hostname.replaceAll(/[[\]]/g, ""), port: Number(port || 443) };
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: object | undefined;
  readonly deadlineMs?: number;
}
