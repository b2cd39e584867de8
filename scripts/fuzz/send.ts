import { type Agent, type IncomingMessage, request } from "node:http";
import type { HttpAnswer } from "./document.ts";
import type { FuzzedRequest } from "./requests.ts";

/** Sends a request and waits for the complete answer, or for the headers of a stream. */
export function send(
  url: string,
  agent: Agent,
  asked: FuzzedRequest & { readonly token: string | undefined },
): Promise<HttpAnswer> {
  const { method, target: path, body } = asked;
  const { hostname, port } = new URL(url);
  const options = { hostname, port, agent, method, path, headers: headersOf(asked) };
  return new Promise((resolve, reject) => {
    const sent = request(options, (response) => {
      const { statusCode: status = 0, headers } = response;
      const isStream = headers["content-type"]?.startsWith("text/event-stream") === true;
      if (isStream) {
        resolve({ status, headers, body: undefined });
        sent.destroy();
        return;
      }
      textOf(response).then((text) => resolve({ status, headers, body: text }), reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

function headersOf({
  headers,
  token,
  body,
}: Parameters<typeof send>[2]): Record<string, string | number> {
  return {
    ...headers,
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { "content-length": Buffer.byteLength(body) }),
  };
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
