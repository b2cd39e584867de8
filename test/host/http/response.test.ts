import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { test, type TestContext } from "node:test";
import { ConstantHeaders } from "../../../host/http/constant-headers.ts";
import { HttpResponse } from "../../../host/http/response.ts";

/** Every second of its characters takes one byte in Latin-1 and two in UTF-8. */
const TEXT = "aé".repeat(500);
const HEAD = ["Content-Length", String(TEXT.length)];

test("requests that come together are answered in order, each with its whole text", async (t) => {
  const finished: string[] = [];
  const port = await serve(t, (request, response) => {
    response.on("finish", () => finished.push(request.url ?? ""));
    const answer = () => {
      response.writeHeadOnce(200, HEAD);
      response.endWithLatin1(TEXT);
    };
    if (request.url === "/slow") setTimeout(answer, 50);
    else answer(); // its turn on the connection has not come yet
  });

  const answers = await exchange(port, ["/slow", "/quick"]);

  assert.deepEqual(
    answers.map(({ body }) => body),
    [TEXT, TEXT],
  );
  assert.deepEqual(finished, ["/slow", "/quick"]);
});

test("a head that was sent before is not repeated", async (t) => {
  const port = await serve(t, (_request, response) => {
    response.writeHeadOnce(200, HEAD);
    response.flushHeaders();
    response.endWithLatin1(TEXT);
  });
  assert.deepEqual(
    (await exchange(port, ["/", "/"])).map(({ body }) => body),
    [TEXT, TEXT],
  );
});

test("an answer without a head gets one", async (t) => {
  const port = await serve(t, (_request, response) => response.endWithLatin1(TEXT));
  const [answer] = await exchange(port, ["/"]);
  assert.equal(answer?.body, TEXT);
  assert.match(answer?.head ?? "", /^HTTP\/1\.1 200 OK\r\n/);
  assert.match(answer?.head ?? "", /Cache-Control: no-store/);
});

test("constant headers are in each head once, also beside a header that was set", async (t) => {
  const constant = new ConstantHeaders([
    "X-Frame-Options",
    "DENY",
    "Content-Security-Policy",
    "none",
  ]);
  const port = await serve(t, (request, response) => {
    response.constantHeaders = constant;
    if (request.url === "/set") response.setHeader("X-Frame-Options", "SAMEORIGIN");
    response.writeHeadOnce(200, HEAD);
    response.endWithLatin1(TEXT);
  });

  const answers = await exchange(port, ["/", "/set"]);

  const linesOf = ({ head }: { head: string }) =>
    head.split("\r\n").filter((line) => /^(X-Frame|Content-S)/.test(line));
  assert.deepEqual(
    answers.map(linesOf).map((lines) => lines.toSorted()),
    [
      ["Content-Security-Policy: none", "X-Frame-Options: DENY"],
      ["Content-Security-Policy: none", "X-Frame-Options: SAMEORIGIN"],
    ],
  );
  assert.ok(answers.every(({ body }) => body === TEXT));
});

test("a constant header whose value would end its line is refused", () => {
  assert.throws(
    () => new ConstantHeaders(["X-Frame-Options", "DENY\r\nSet-Cookie: a=b"]),
    /cannot be in a header/,
  );
});

async function serve(
  t: TestContext,
  answer: (request: IncomingMessage, response: HttpResponse) => void,
): Promise<number> {
  const server = createServer({ ServerResponse: HttpResponse }, answer).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** Sends all requests at once over one connection; returns the answers, as Latin-1. */
async function exchange(port: number, paths: readonly string[]) {
  const socket = connect(port, "127.0.0.1");
  const requests = paths.map((path, at) => {
    const connection = at === paths.length - 1 ? "close" : "keep-alive";
    return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: ${connection}\r\n\r\n`;
  });
  socket.write(requests.join(""));
  const chunks = await socket.toArray();
  let rest = Buffer.concat(chunks as Buffer[]).toString("latin1");
  const answers = [];
  for (const _ of paths) {
    const end = rest.indexOf("\r\n\r\n") + 4;
    const head = rest.slice(0, end);
    const length = Number(/Content-Length: (\d+)/.exec(head)?.[1] ?? Number.NaN);
    answers.push({ head, body: rest.slice(end, end + length) });
    rest = rest.slice(end + length);
  }
  assert.equal(rest, "");
  return answers;
}
