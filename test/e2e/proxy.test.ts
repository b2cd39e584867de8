import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { get, type RequestOptions } from "node:https";
import { join, resolve } from "node:path";
import { test, type TestContext } from "node:test";
import { emptyFolder } from "../helpers/folder.ts";
import { freePort } from "../helpers/free-port.ts";
import { until } from "../helpers/until.ts";
import { type ServedApp, serveApp } from "../host/http/serve-app.ts";
import { writtenPair } from "../host/http/tls-pair.ts";

const NGINX = ["/usr/sbin/nginx", "/usr/bin/nginx"].find(existsSync);
const NAME = "home.example.org";
const skip = NGINX === undefined && "nginx is not installed";

test(
  "nginx in front passes requests and events on at once, under its own name alone",
  { skip },
  async (t) => {
    const app = await serveApp(t);
    await app.config.patch({ server: { hosts: [NAME], proxies: ["127.0.0.1"] } }, { admin: true });
    const ask = await startNginx(t, app);
    const authorization = `Bearer ${await app.token("admin")}`;

    const shell = await ask("/");
    const config = await ask("/api/v1/config", { headers: { authorization } });
    const refused = await ask("/api/v1/config");
    const stream = await follow(ask, authorization);
    app.bus.emit("layout.changed", { revision: 7 });
    await until(() => stream.text.includes("layout.changed"));
    stream.leave();

    assert.deepEqual([shell.status, config.status, refused.status], [200, 200, 401]);
    assert.equal(refused.headers["www-authenticate"], 'Bearer realm="mantel"');
    assert.equal(shell.headers["strict-transport-security"], "max-age=2592000");
    await assert.rejects(
      ask("/", { servername: "evil.example", headers: { host: "evil.example" } }),
    );
  },
);

test("nginx is a client like any other unless it is configured as a proxy", { skip }, async (t) => {
  const app = await serveApp(t);
  const rateLimit = { perSecond: 0.01, burst: 2, loopback: false };
  await app.config.patch({ server: { hosts: [NAME], rateLimit } }, { admin: true });
  const ask = await startNginx(t, app, "203.0.113.9");

  const unknown = await Promise.all([1, 2, 3, 4].map(() => ask("/api")));
  await app.config.patch({ server: { proxies: ["127.0.0.0/8"] } }, { admin: true });
  const known = await Promise.all([1, 2, 3, 4].map(() => ask("/api")));

  assert.deepEqual(
    unknown.map(({ status }) => status),
    [200, 200, 200, 200],
    "it is on this machine",
  );
  assert.equal(known.filter(({ status }) => status === 429).length, 2, "its clients are not");
});

interface Answer {
  readonly status: number;
  readonly headers: Record<string, unknown>;
}
interface AskOptions {
  readonly servername?: string;
  readonly headers?: Readonly<Record<string, string>>;
}
type Ask = (path: string, options?: AskOptions) => Promise<Answer>;

/** nginx with the configuration of the documentation, but for ports and paths. */
async function startNginx(
  t: TestContext,
  { url }: ServedApp,
  client = "$remote_addr",
): Promise<Ask & { options: RequestOptions }> {
  const home = await emptyFolder(t);
  const pair = await writtenPair(t, [NAME]);
  const port = await freePort();
  const example = await readFile(
    resolve(import.meta.dirname, "../../docs/examples/nginx.conf"),
    "utf8",
  );
  const server = example
    .replace("127.0.0.1:8470", new URL(url).host)
    .replaceAll("listen 443 ssl", `listen 127.0.0.1:${port} ssl`)
    .replace(/ssl_certificate .+;/, `ssl_certificate ${pair.cert};`)
    .replace(/ssl_certificate_key .+;/, `ssl_certificate_key ${pair.key};`)
    .replace("X-Forwarded-For $remote_addr", `X-Forwarded-For ${client}`);
  await mkdir(join(home, "tmp"));
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${home}/tmp;`,
  );
  await writeFile(
    join(home, "nginx.conf"),
    `daemon off; master_process off; pid ${home}/pid; error_log ${home}/error.log;
     events {} http { access_log off; ${temporary.join(" ")} ${server} }`,
  );
  const nginx = spawn(NGINX ?? "", ["-p", home, "-c", join(home, "nginx.conf")], {
    stdio: "ignore",
  });
  t.after(() => end(nginx));
  const options = { host: "127.0.0.1", port, servername: NAME, ca: pair.ca, agent: false as const };
  const ask: Ask = (path, more = {}) =>
    request({ ...options, path, ...more, headers: { host: NAME, ...more.headers } });
  await until(() => ask("/").catch(() => undefined), { withinMs: 10_000 });
  return Object.assign(ask, { options });
}

async function end(nginx: ChildProcess): Promise<void> {
  if (nginx.exitCode !== null) return;
  nginx.kill("SIGKILL");
  await once(nginx, "exit");
}

function request(options: RequestOptions): Promise<Answer> {
  return new Promise((done, failed) => {
    get(options, (response) => {
      response.resume();
      response.on("end", () =>
        done({ status: response.statusCode ?? 0, headers: response.headers }),
      );
    }).on("error", failed);
  });
}

async function follow({ options }: { options: RequestOptions }, authorization: string) {
  const stream = { text: "", leave: (): void => undefined };
  const asked = get(
    { ...options, path: "/api/v1/events", headers: { host: NAME, authorization } },
    (response) => {
      response.on("data", (bytes) => (stream.text += String(bytes)));
    },
  );
  asked.on("error", () => undefined);
  stream.leave = () => void asked.destroy();
  await until(() => stream.text.includes("retry:"));
  return stream;
}
