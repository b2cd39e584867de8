import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { onTestEnd } from "./on-test-end.ts";

/** A server on loopback that passes requests on, counts them, and can stand in their way. */
export interface Proxy {
  readonly url: string;
  /** `PROPFIND /ann/`, in the order they came. */
  readonly requests: string[];
  /** Gives the status of a refusal for a body, or `undefined` to pass it on. */
  refuse: (body: string) => number | undefined | Promise<number | undefined>;
  /** True closes the connection in place of the answer, after the target has carried out the request. */
  loseAnswer: (method: string) => boolean;
}

/** Stands before `target` until the test ends. Answers 502 while it cannot be reached. */
export async function countingProxy(t: TestContext, target: string): Promise<Proxy> {
  const requests: string[] = [];
  const proxy: Proxy = { url: "", requests, refuse: () => undefined, loseAnswer: () => false };
  const pass = async (incoming: IncomingMessage, response: ServerResponse) => {
    const body = await text(incoming);
    requests.push(`${incoming.method} ${incoming.url}`);
    const refusal = await proxy.refuse(body);
    if (refusal !== undefined) return void response.writeHead(refusal).end();
    const { method = "GET", headers, url = "/" } = incoming;
    const passed = request(`${target}${url}`, { method, headers, agent: false });
    passed.on("error", () => response.writeHead(502).end());
    passed.on("response", (answer: IncomingMessage) => {
      if (proxy.loseAnswer(method)) return void incoming.socket.destroy();
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    passed.end(body);
  };
  const server = createServer((incoming, response) => void pass(incoming, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestEnd(t, async () => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(proxy, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  });
}
