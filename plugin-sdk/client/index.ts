import createFetchClient, { type Client } from "openapi-fetch";
import type { paths } from "./api-types.d.ts";
import { type EventsOptions, type EventOf, followEvents, type Topic } from "./events.ts";
import { sendWithRetries } from "./retries.ts";

export type * from "./api-types.d.ts";
export type { EventOf, EventsOptions, Topic } from "./events.ts";
export { ProblemError, unwrap } from "./problem.ts";

export interface ClientOptions {
  /** The address of the host, such as `http://127.0.0.1:8470`. */
  readonly url: string;
  /** Absent in a page of the host itself, which is signed in by its cookie. */
  readonly token?: string;
  /** The API's prefix, as `GET /api` reports it. Absent means `/api/v1`. */
  readonly prefix?: string;
  /** The most repetitions of a request that was answered 409 or 429 with `Retry-After`. Absent means 3. */
  readonly retries?: number;
  /** Absent means the global one. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

/** A client of a home: `GET`, `POST`, `PUT`, `PATCH` and `DELETE` by path, and its events. */
export interface MantelClient extends Client<paths> {
  /**
   * Follows the home's events, and reconnects when the stream ends. Events that happened in between are sent again.
   * A `resync` tells the caller to read what it needs: if they are no longer known, and once the stream is open if there
   * is no `lastEventId`, because what was read before may have changed since. Ends with the loop or the signal.
   * @throws ProblemError if the host refuses the request, for example the token
   */
  events<T extends Topic>(options?: EventsOptions<T>): AsyncGenerator<EventOf<T>, void>;
}

/**
 * Creates a client. A refused call is an answer with `error`; `unwrap` throws it instead.
 * A host that cannot be reached is a `TypeError` of fetch.
 */
export function createClient(options: ClientOptions): MantelClient {
  const { url, token, prefix = "/api/v1", retries = 3 } = options;
  const send = options.fetch ?? ((request: Request) => fetch(request));
  const client = createFetchClient<paths>({
    baseUrl: `${url.replace(/\/$/, "")}${prefix}`,
    headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
    fetch: (request) => sendWithRetries(request, { send, retries }),
  });
  return Object.assign(client, {
    events: <T extends Topic>(wanted: EventsOptions<T> = {}) => followEvents(client, wanted),
  });
}
