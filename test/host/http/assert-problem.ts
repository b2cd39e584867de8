import assert from "node:assert/strict";

/** Checks that the bytes of an answer are a complete problem document (RFC 9457) with this code. */
export function assertProblem(answer: string, status: number, code: string): void {
  const end = answer.indexOf("\r\n\r\n");
  const [head, body] = [answer.slice(0, end), answer.slice(end + 4)];
  const headerOf = (name: string) => new RegExp(`^${name}: (.+?)\r?$`, "im").exec(head)?.[1];
  const problem = JSON.parse(body) as Record<string, unknown>;

  assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} \\w`));
  assert.match(headerOf("Content-Type") ?? "", /^application\/problem\+json/);
  assert.equal(headerOf("Content-Length"), String(Buffer.byteLength(body)));
  const { title, detail, ...others } = problem;
  assert.ok(typeof title === "string" && typeof detail === "string" && title && detail);
  const requestId = headerOf("X-Request-Id");
  assert.match(requestId ?? "", /^[\da-f-]{36}$/);
  assert.deepEqual(others, { type: `urn:mantel:problem:${code}`, status, code, requestId });
}
