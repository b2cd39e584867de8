import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";

/**
 * Resolves when the host at `url` has read the requests before. A host accepts connections in their order, and may read a
 * request on a new one behind a later request on an open one: so these have new ones.
 */
export async function arrived(url: string): Promise<void> {
  for (let round = 0; round < 2; round++) {
    const [answer] = (await once(get(`${url}/api`, { agent: false }), "response")) as [
      IncomingMessage,
    ];
    await once(answer.resume(), "end");
  }
}
