import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { createRoutes } from "../../../host/http/routes/index.ts";
import { type ServedApp, serveApp } from "./serve-app.ts";

const ROUNDS = 3_000;
const AT_ONCE = 20;
const SEED = 20_261_120;

test(`no request out of ${ROUNDS} random ones is answered with 5xx, and the host lives`, async (t) => {
  const app = await serveApp(t);
  const random = seeded(SEED);
  const paths = pathsOf(app);
  const token = await app.token("admin");
  const faults: string[] = [];
  const counts = new Map<string, number>();
  const port = Number(new URL(app.url).port);

  for (let round = 0; round < ROUNDS; round += AT_ONCE) {
    const requests = Array.from({ length: AT_ONCE }, () => randomRequest({ random, paths, token }));
    const statuses = await Promise.all(requests.map((request) => send(port, request)));
    for (const [n, status] of statuses.entries()) {
      counts.set(status, (counts.get(status) ?? 0) + 1);
      // 503 is right where nothing provides a service.
      if (status.startsWith("5") && status !== "503") faults.push(`${status} ${requests[n]}`);
    }
  }

  assert.deepEqual(faults, []);
  assert.ok(!counts.has("nothing") && !counts.has("reset"), "each of them is answered");
  assert.ok(counts.size >= 8, `the requests are of many kinds: ${[...counts.keys()].join(" ")}`);
  assert.equal((await fetch(`${app.url}/api`)).status, 200);
  assert.deepEqual(
    app.log.records.filter(({ level }) => level === "error"),
    [],
  );
});

type Random = (below: number) => number;

function randomRequest(from: { random: Random; paths: readonly string[]; token: string }): string {
  const { random, paths, token } = from;
  const pick = <T>(of: readonly T[]): T => of[random(of.length)] as T;
  const body = pick(BODIES)(random);
  const path = spoil(pick(paths), random);
  const headers = [
    `Host: ${pick(["localhost", "localhost", "localhost", "127.0.0.1:99999", "evil.example"])}`,
    pick([`Authorization: Bearer ${token}`, `Authorization: Bearer ${token}`, "Authorization: x"]),
    pick(["Content-Type: application/json", "Content-Type: application/json", "Content-Type: x"]),
    pick([
      "If-Match: *",
      'If-Match: "1"',
      "If-None-Match: *",
      "Prefer: respond-async",
      "Range: bytes=0-",
    ]),
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  return `${pick(METHODS)} ${path} HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n${body}`;
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "SEARCH"];
const BODIES: readonly ((random: Random) => string)[] = [
  () => "",
  () => "{}",
  () => "null",
  () => "[]",
  () => '{"on":true}',
  () => '{"topic":"a/b","payload":"x"}',
  () => '{"ui":{"theme":null}}',
  () => '{"constructor":{"prototype":{"x":1}},"toString":1,"__proto__":{}}',
  (random) => JSON.stringify({ [noise(random)]: { [noise(random)]: noise(random) } }),
  (random) => noise(random),
  (random) => `{"a":${"[".repeat(random(60))}`,
  (random) =>
    JSON.stringify({ brightness: random(2_000) - 1_000, topic: noise(random), payload: 5 }),
];

function pathsOf({ parts }: ServedApp): string[] {
  const table = createRoutes({
    ...parts,
    prefix: "/api/v1",
    docsPage: "",
    contributed: () => [],
    metrics: {} as never,
  });
  return table
    .filter(({ path }) => path !== "/events") // a stream does not end by itself
    .map(({ path, outsidePrefix }) => (outsidePrefix ? path : `/api/v1${path}`))
    .map((path) => path.replace(":id", path.includes("modules") ? "demo" : "demo:light:1"))
    .map((path) => path.replace(":revision", "1"));
}

function spoil(path: string, random: Random): string {
  const at = random(path.length);
  const odd = encodeURIComponent(noise(random));
  const ways = [
    path,
    path,
    path,
    `${path}?${odd}=${odd}&start=${odd}&limit=${odd}&kind=${odd}&wait=${odd}`,
    path.slice(0, at) + odd + path.slice(at + 1),
    `${path}%`,
    `${path}/${odd}`,
    path.toUpperCase(),
  ];
  return ways[random(ways.length)] as string;
}

const CHARACTERS = Array.from("aZ09:/#+$*.-_ {}[]\"'\\%\u0000\u0007\u00e4\u{1f4a1}<>");

function noise(random: Random): string {
  return Array.from({ length: random(12) }, () => CHARACTERS[random(CHARACTERS.length)]).join("");
}

function send(port: number, request: string): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    connect(port, "127.0.0.1")
      .on("data", (bytes) => (text += bytes.toString("latin1")))
      .on("error", () => resolve("reset"))
      .on("close", () => resolve(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? "nothing"))
      .write(request);
  });
}

/** Numbers that are the same at each run (mulberry32). */
function seeded(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
