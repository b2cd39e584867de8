// A push service as RFC 8030, 8188, 8291 and 8292 describe it, with the browsers that it serves: it takes messages only from
// the sender whose key a browser has subscribed with, and each browser decrypts its own.
import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import jsonwebtoken from "jsonwebtoken";

const MAX_BODY_BYTES = 4_096;

export interface FakeBrowser {
  readonly subscription: {
    readonly endpoint: string;
    readonly keys: { readonly p256dh: string; readonly auth: string };
  };
  /** The decrypted messages. */
  readonly messages: readonly unknown[];
  /** Ends the subscription, as a user does who withdraws the permission. */
  unsubscribe(): void;
}

export interface FakePushService {
  readonly url: string;
  /** The number of requests, also of refused ones. */
  readonly requests: number;
  /** Reasons why requests were refused. */
  readonly refusals: readonly string[];
  /** A new browser, which subscribes with the key of a sender (base64url). */
  subscribe(senderKey: string): FakeBrowser;
  /** Answers the next requests with these statuses; `0` breaks the connection. */
  failNext(...statuses: number[]): void;
}

interface Subscribed extends FakeBrowser {
  readonly senderKey: string;
  readonly messages: unknown[];
  decrypt(body: Buffer): Buffer;
}

export async function startPushService(t: Pick<TestContext, "after">): Promise<FakePushService> {
  const browsers = new Map<string, Subscribed>();
  const failures: number[] = [];
  const refusals: string[] = [];
  let requests = 0;
  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => {
      refusals.push(String(error));
      response.writeHead(400).end();
    });
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    requests++;
    const failure = failures.shift();
    if (failure === 0) return void request.socket.destroy();
    if (failure !== undefined) return void response.writeHead(failure).end();
    const browser = browsers.get(request.url ?? "");
    if (!browser) return void response.writeHead(410).end();
    const body = await bodyOf(request);
    checkSender(request, browser.senderKey, url());
    browser.messages.push(JSON.parse(browser.decrypt(body).toString()));
    response.writeHead(201, { location: `${url()}/message/1` }).end();
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url(),
    refusals,
    get requests() {
      return requests;
    },
    subscribe(senderKey) {
      const path = `/wpush/v2/${randomBytes(24).toString("base64url")}`;
      const browser = newBrowser(url() + path, senderKey, () => browsers.delete(path));
      browsers.set(path, browser);
      return browser;
    },
    failNext: (...statuses) => void failures.push(...statuses),
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  if (body.length > MAX_BODY_BYTES)
    throw new Error(`a body of ${body.length} bytes (RFC 8030, 7.2)`);
  return body;
}

/** RFC 8030, 5.2 and 5.3; RFC 8188, 2; RFC 8292, 2 and 4.2. */
function checkSender(
  { headers, method }: IncomingMessage,
  senderKey: string,
  origin: string,
): void {
  const { ttl, urgency, authorization = "" } = headers;
  if (method !== "POST") throw new Error(`${method} instead of POST`);
  if (!/^\d+$/.test(String(ttl))) throw new Error("no TTL");
  if (!/^(very-low|low|normal|high)$/.test(String(urgency))) throw new Error("no urgency");
  if (headers["content-encoding"] !== "aes128gcm") throw new Error("not encrypted with aes128gcm");
  const [, token = "", key = ""] = /^vapid t=([^,\s]+),\s*k=([\w-]+)$/.exec(authorization) ?? [];
  if (key !== senderKey) throw new Error("the key is not the one of the subscription");
  const raw = Buffer.from(key, "base64url");
  const [x, y] = [raw.subarray(1, 33), raw.subarray(33)].map((part) => part.toString("base64url"));
  const publicKey = createPublicKey({
    key: { kty: "EC", crv: "P-256", x: x ?? "", y: y ?? "" },
    format: "jwk",
  });
  const claims = jsonwebtoken.verify(token, publicKey, { algorithms: ["ES256"], audience: origin });
  const { exp = 0, sub = "" } = claims as jsonwebtoken.JwtPayload;
  if (exp > Date.now() / 1_000 + 24 * 3_600) throw new Error("valid for more than a day");
  if (!/^(mailto:[^@]+@|https:)/.test(sub)) throw new Error(`no contact: ${sub}`);
}

function newBrowser(endpoint: string, senderKey: string, unsubscribe: () => void): Subscribed {
  const pair = createECDH("prime256v1");
  const own = pair.generateKeys();
  const secret = randomBytes(16);
  return {
    subscription: {
      endpoint,
      keys: { p256dh: own.toString("base64url"), auth: secret.toString("base64url") },
    },
    senderKey,
    messages: [],
    unsubscribe,
    decrypt(body) {
      const salt = body.subarray(0, 16); // RFC 8188, 2.1
      const theirs = body.subarray(21, 21 + body.readUInt8(20));
      const content = body.subarray(21 + theirs.length);
      const derive = (key: Buffer, salted: Buffer, info: Buffer, length: number) =>
        Buffer.from(hkdfSync("sha256", key, salted, info, length));
      const info = Buffer.concat([Buffer.from("WebPush: info\0"), own, theirs]); // RFC 8291, 3.4
      const input = derive(pair.computeSecret(theirs), secret, info, 32);
      const key = derive(input, salt, Buffer.from("Content-Encoding: aes128gcm\0"), 16);
      const nonce = derive(input, salt, Buffer.from("Content-Encoding: nonce\0"), 12);
      const decipher = createDecipheriv("aes-128-gcm", key, nonce);
      decipher.setAuthTag(content.subarray(-16));
      const padded = Buffer.concat([decipher.update(content.subarray(0, -16)), decipher.final()]);
      return padded.subarray(0, padded.lastIndexOf(2)); // the delimiter of the last record
    },
  };
}
