// An ntfy server, as its documentation (docs.ntfy.sh/publish) and its answers describe it: messages are published as JSON
// to the root, topics can be protected by access tokens, and errors have a code, the status, words and a link.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

const TOPIC = /^[-_A-Za-z0-9]{1,64}$/;
const MAX_BODY_BYTES = 8_192;

export interface Published {
  readonly topic: string;
  readonly title?: string;
  readonly message: string;
}

export interface FakeNtfy {
  readonly url: string;
  readonly published: readonly Published[];
  /** The number of requests, also of refused ones. */
  readonly requests: number;
  /** Answers the next requests with these statuses; `0` breaks the connection. */
  failNext(...statuses: number[]): void;
}

/** `protectedTopics`: topics that need one of the tokens. */
export async function startNtfy(
  t: Pick<TestContext, "after">,
  { protectedTopics = [], tokens = [] }: { protectedTopics?: string[]; tokens?: string[] } = {},
): Promise<FakeNtfy> {
  const published: Published[] = [];
  const failures: number[] = [];
  let requests = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    requests++;
    const failure = failures.shift();
    if (failure === 0) return void request.socket.destroy();
    if (failure !== undefined)
      return refuse(response, failure, failure * 100 + 1, WORDS[failure] ?? "error");
    let body = "";
    for await (const chunk of request as AsyncIterable<Buffer>) body += chunk.toString();
    if (request.url !== "/" || request.method !== "POST" || body.length > MAX_BODY_BYTES) {
      return refuse(response, 404, 40401, "page not found");
    }
    const message = JSON.parse(body) as Published;
    if (!TOPIC.test(message.topic))
      return refuse(response, 400, 40009, "invalid request: topic invalid");
    const token = /^Bearer (\S+)$/.exec(request.headers.authorization ?? "")?.[1];
    if (token !== undefined && !tokens.includes(token))
      return refuse(response, 401, 40101, "unauthorized");
    if (protectedTopics.includes(message.topic) && token === undefined) {
      return refuse(response, 403, 40301, "forbidden");
    }
    published.push(message);
    const time = Math.floor(Date.now() / 1000);
    const envelope = {
      id: "xE73Iyuabi",
      time,
      expires: time + 43_200,
      event: "message",
      ...message,
    };
    response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(envelope));
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    published,
    get requests() {
      return requests;
    },
    failNext: (...statuses) => void failures.push(...statuses),
  };
}

const WORDS: Readonly<Record<number, string>> = {
  429: "limit reached: too many requests",
  500: "internal server error",
  503: "service unavailable",
};

function refuse(response: ServerResponse, status: number, code: number, error: string): void {
  const answer = { code, http: status, error, link: "https://ntfy.sh/docs/publish/" };
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(answer));
}
