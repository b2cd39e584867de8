import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

/** Serves one HTML page at every path, on an origin of its own; gives that origin. */
export async function servePage(t: TestContext, page: string): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(200, { "Content-Type": "text/html" }).end(page);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
