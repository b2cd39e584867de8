import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Ports that the kernel gives to nobody by itself (ip(7), `ip_local_port_range`: from 32,768 on): one of its own could
 * be taken for a connection of another test before the test that asked for it listens there.
 */
const [FIRST, LAST] = [10_000, 32_000];
const ATTEMPTS = 100;

/** A port of the loopback address at which nothing listens. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(FIRST, LAST);
    const server = createServer().listen(port, "127.0.0.1");
    const isFree = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
  throw new Error(`no free port from ${FIRST} to ${LAST} in ${ATTEMPTS} attempts`);
}
