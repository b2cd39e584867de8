import assert from "node:assert/strict";
import { test } from "node:test";
import type { Asset } from "../../../host/http/dependencies.ts";
import { rawStatus, serveApp } from "./serve-app.ts";

test("the shell is revalidated at each visit, and hashed files never are", async (t) => {
  const { url } = await serveApp(t);

  const shell = await fetch(`${url}/`);
  const widget = await fetch(`${url}/assets/widgets/demo.0123abcd.js`);

  assert.equal(shell.headers.get("cache-control"), "no-cache");
  assert.equal(shell.headers.get("content-type"), "text/html; charset=utf-8");
  assert.equal(widget.headers.get("cache-control"), "public, max-age=31536000, immutable");
  assert.equal(await widget.text(), "define()");
});

test("text is compressed for clients that accept it, except short texts and pictures", async (t) => {
  const long = "define();\n".repeat(500);
  const of = (body: string | Buffer, type: string) => ({ body, type, immutable: true });
  const files = new Map([
    ["/assets/long.js", of(long, "text/javascript")],
    ["/assets/short.js", of("define()", "text/javascript")],
    ["/assets/picture.png", of(Buffer.alloc(5_000), "image/png")],
  ]);
  const { url } = await serveApp(t, { assets: { find: async (path) => files.get(path) } });
  const answerTo = async (path: string, encoding: string) => {
    const { headers } = await fetch(url + path, { headers: { "accept-encoding": encoding } });
    return [headers.get("content-encoding"), headers.get("vary")?.includes("Accept-Encoding")];
  };

  const gzipped = await fetch(`${url}/assets/long.js`, { headers: { "accept-encoding": "gzip" } });

  assert.equal(await gzipped.text(), long);
  assert.ok(Number(gzipped.headers.get("content-length")) < 200);
  assert.deepEqual(await answerTo("/assets/long.js", "br, gzip"), ["gzip", true]);
  assert.deepEqual(await answerTo("/assets/long.js", "identity"), [null, true]);
  assert.deepEqual((await answerTo("/assets/short.js", "gzip"))[0], null);
  assert.deepEqual((await answerTo("/assets/picture.png", "gzip"))[0], null);
});

test("a framed page has its own policy, and no other page may be framed", async (t) => {
  const page = { body: "<p>", type: "text/html", immutable: true };
  const framedPolicy = "default-src 'none'; frame-ancestors 'self'; sandbox allow-scripts";
  const files = new Map<string, Asset>([
    ["/assets/framed.html", { ...page, framedPolicy }],
    ["/assets/other.html", page],
  ]);
  const { url } = await serveApp(t, { assets: { find: async (path) => files.get(path) } });

  const [framed, other] = await Promise.all(
    [...files.keys()].map(async (path) => (await fetch(url + path)).headers),
  );

  assert.equal(framed?.get("content-security-policy"), framedPolicy);
  assert.equal(framed?.get("x-frame-options"), "SAMEORIGIN");
  assert.equal(framed?.get("access-control-allow-origin"), null);
  assert.match(other?.get("content-security-policy") ?? "", /frame-ancestors 'none'/);
  assert.equal(other?.get("x-frame-options"), "DENY");
});

test("only built files are served", async (t) => {
  const { url } = await serveApp(t);
  const targets = [
    "/index.html",
    "/assets",
    "/assets/",
    "/assets/../package.json",
    "/assets/..%2f..%2fpackage.json",
    "/assets/%2e%2e/package.json",
    "/assets/widgets/demo.0123abcd.js/",
    "/Assets/widgets/demo.0123abcd.js",
    "/favicon.ico",
  ];

  const statuses = await Promise.all(targets.map((target) => rawStatus(url, target, {})));

  assert.deepEqual(
    statuses,
    targets.map(() => 404),
  );
});

test("the service worker is at the root, so that it serves all pages, and has the policy of the page", async (t) => {
  const worker = { body: "worker()", type: "text/javascript", immutable: false };
  const files = new Map([["/service-worker.js", worker]]);
  const { url } = await serveApp(t, { assets: { find: async (path) => files.get(path) } });

  const { status, headers } = await fetch(`${url}/service-worker.js`);

  assert.deepEqual([status, headers.get("cache-control")], [200, "no-cache"]);
  assert.match(headers.get("content-security-policy") ?? "", /connect-src 'self'/);
});

test("files can only be read", async (t) => {
  const { url } = await serveApp(t);

  const head = await fetch(`${url}/`, { method: "HEAD" });
  const post = await fetch(`${url}/`, { method: "POST" });

  assert.deepEqual([head.status, await head.text()], [200, ""]);
  assert.deepEqual([post.status, post.headers.get("allow")], [405, "GET, HEAD"]);
});

test("the API page needs no inline code and nothing from other origins", async (t) => {
  const { url, api } = await serveApp(t);

  const withToken = await api("read", "/docs");
  const without = await api(null, "/docs");
  const page = await without.text();

  assert.deepEqual([withToken.status, without.status], [200, 401]);
  assert.equal(without.headers.get("content-type"), "text/html; charset=utf-8");
  assert.doesNotMatch(page, /https?:|style=|<style|<script>|onclick/);
  for (const [, path] of page.matchAll(/(?:src|href)="([^"]+)"/g)) {
    assert.equal((await fetch(url + path)).status, 200, path);
  }
});
