import type { ServerResponse } from "node:http";
import { pipeline, Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";

/** Faults of a bridge. */
export type Fault = keyof typeof FAULTS | undefined;

/** Each answers in place of the bridge, and tells whether that was the answer. */
export const FAULTS = {
  never: () => true,
  slow: () => delay(1_000, false),
  half(response: ServerResponse) {
    response.writeHead(200, { "content-type": "application/json", "content-length": "100000" });
    response.write('{"errors":[],"data":[{"id":"lamp-1","ty');
    return true;
  },
  /** As `half`, and then it hangs up. */
  cut(response: ServerResponse) {
    FAULTS.half(response);
    response.socket?.end();
    return true;
  },
  garbage(response: ServerResponse) {
    response.writeHead(200).end("<html>It works!</html>");
    return true;
  },
  huge(response: ServerResponse) {
    pipeline(Readable.from(endless()), response.writeHead(200), () => undefined);
    return true;
  },
  busy(response: ServerResponse) {
    const errors = [{ description: "resource temporarily unavailable" }];
    sendJson(response.setHeader("retry-after", "2"), 503, { errors, data: [] });
    return true;
  },
  throttling(response: ServerResponse) {
    throttle(response);
    return true;
  },
} satisfies Record<string, (response: ServerResponse) => boolean | Promise<boolean>>;

export function throttle(response: ServerResponse): void {
  sendJson(response, 429, { errors: [{ description: "too many requests" }], data: [] });
}

/** Sends an answer, and tells the response's listeners of `json` what it is. */
export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.emit("json", status, body);
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function* endless(): Generator<string> {
  for (;;) yield "x".repeat(2 ** 20);
}
