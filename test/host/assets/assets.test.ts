import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { constants, gzipSync } from "node:zlib";
import { Assets } from "../../../host/assets/assets.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { removeFolder } from "../../helpers/folder.ts";

const LAYOUT = new URL("../../../layouts/default.json", import.meta.url);
const BUDGET_BYTES = 60_000;

const cacheFolder = await mkdtemp(join(tmpdir(), "mantel-assets-"));
after(() => removeFolder(cacheFolder));
const assets = new Assets({ log: collectedLog(), cacheFolder });
const shell = await assets.openShell();
const page = String(shell.get("/")?.body);
const linked = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(
  ([, path]) => path ?? "",
);

test("the page needs no inline script or style, so the strictest policy fits it", () => {
  assert.doesNotMatch(page, /<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=|\{\{/);
  assert.equal(shell.get("/")?.immutable, false);
});

test("everything that the page links is served under immutable names", () => {
  assert.ok(linked.length >= 4);
  for (const path of linked) assert.equal(shell.get(path)?.immutable, true, path);
});

test("the first paint waits for only one small script", () => {
  const blocking = [...page.matchAll(/<script src="([^"]+)"><\/script>/g)].map(([, path]) => path);

  assert.equal(blocking.length, 1);
  assert.ok((shell.get(blocking[0] ?? "")?.body.length ?? Infinity) < 1_000);
  assert.doesNotMatch(page, /blocking=/);
});

test("fonts come from the host", () => {
  const styles = String(shell.get(linked.find((path) => path.endsWith(".css")) ?? "")?.body);
  const fonts = [...styles.matchAll(/url\("?\.?\/?([^")]+\.woff2)/g)].map(([, file]) => file);

  assert.equal(fonts.length, 2);
  for (const file of fonts) assert.equal(shell.get(`/assets/${file}`)?.type, "font/woff2");
  assert.doesNotMatch(styles, /https?:/);
});

test("the shell and the widgets of the first page stay within their budget", async () => {
  const { pages } = JSON.parse(await readFile(LAYOUT, "utf8")) as {
    pages: { widgets: { module: string }[] }[];
  };
  const modules = new Set(pages[0]?.widgets.map(({ module }) => module));
  // Text is painted before its font has come; the last two are for who installs an app.
  const bodies = linked
    .filter((path) => !/\.woff2$|app-icon|\.webmanifest$/.test(path))
    .map((path) => shell.get(path)?.body ?? "");
  for (const id of modules) {
    const folder = new URL(`../../../plugins/${id}`, import.meta.url).pathname;
    const { code } = await assets.buildWidget({ id, folder, entry: "widget.ts" });
    bodies.push(code);
  }

  const bytes = bodies.reduce(
    (sum, body) => sum + gzipSync(body, { level: constants.Z_BEST_COMPRESSION }).length,
    0,
  );

  assert.ok(modules.size > 3);
  assert.ok(bytes < BUDGET_BYTES, `${bytes} bytes, compressed`);
});

test("the frame page has one script and a policy that permits no network access", () => {
  const [, path = ""] = /<meta name="mantel-frame" content="([^"]+)"/.exec(page) ?? [];
  const frame = shell.get(path);
  const body = String(frame?.body);
  const [, script = ""] = /<script>([^]*)<\/script>/.exec(body) ?? [];
  const hash = createHash("sha256").update(script).digest("base64");

  assert.equal(frame?.type, "text/html; charset=utf-8");
  assert.equal(body.match(/<script|<link|<style/g)?.length, 1);
  const policy = frame?.framedPolicy?.split("; ") ?? [];
  for (const rule of [
    `script-src 'sha256-${hash}' blob:`,
    ...["default-src 'none'", "worker-src 'none'", "img-src data: blob:", "form-action 'none'"],
    ...["frame-ancestors 'self'", "sandbox allow-scripts"],
  ]) {
    assert.ok(policy.includes(rule), rule);
  }
});

test("the service worker lists the files of its build, and is asked for again at each visit", () => {
  const worker = shell.get("/service-worker.js");
  const [, build = "{}"] = /^const MANTEL_BUILD=(\{.*?\});/.exec(String(worker?.body)) ?? [];
  const { files } = JSON.parse(build) as { files: readonly string[] };

  assert.deepEqual([worker?.immutable, worker?.type], [false, "text/javascript; charset=utf-8"]);
  for (const path of files) assert.equal(shell.get(path)?.immutable, true, path);
  for (const path of linked.filter((each) => !/app-icon|\.webmanifest$/.test(each)))
    assert.ok(files.includes(path), path);
  assert.doesNotMatch(String(worker?.body), /https?:/);
});

test("a file of the shell is found before anybody has opened it", async () => {
  const others = new Assets({ log: collectedLog(), cacheFolder });

  assert.equal(String((await others.find("/"))?.body), page);
});

test("icons are found together by their names, and unknown names are left out", async () => {
  const names = ["sofa", "numeric-1-box", "nothing-like-it", "proto", "-sofa"];
  const found = await assets.find(`/assets/icons/7.4.47/${names.join(",")}.json`);

  assert.deepEqual([found?.type, found?.immutable], ["application/json; charset=utf-8", true]);
  const paths = JSON.parse(String(found?.body)) as Record<string, string>;
  assert.deepEqual(Object.keys(paths), ["sofa", "numeric-1-box"]);
  for (const path of Object.values(paths)) assert.match(path, /^M[\w ,.-]+$/);
});

test("other addresses of icons find nothing, such as those with more than a hundred names", async () => {
  const names = Array.from({ length: 101 }, (_, n) => `icon-${n}`);
  const files = ["Sofa", "__proto__", "../main", "sofa.json", "", "%2e", names.join(",")];

  for (const file of files) {
    assert.equal(await assets.find(`/assets/icons/7.4.47/${file}.json`), undefined, file);
  }
  assert.equal(await assets.find("/assets/icons/7.4.47/sofa.svg"), undefined);
  assert.ok(await assets.find(`/assets/icons/7.4.47/${names.slice(1).join(",")}.json`));
});

test("a widget is served by its hash, with the content before it", async () => {
  const bundle = (hash: string) => ({ hash, code: `code ${hash}`, map: "{}", inputs: [] });

  const urls = ["a1", "b2", "c3"].map((hash) => assets.setWidget("lamp-widget", bundle(hash)));

  assert.equal(urls[2], "/assets/widgets/lamp-widget.c3.js");
  assert.deepEqual(await Promise.all(urls.map(async (url) => (await assets.find(url))?.body)), [
    undefined,
    "code b2",
    "code c3",
  ]);
  assert.equal((await assets.find(`${urls[2]}.map`))?.body, "{}");
  assets.removeWidget("lamp-widget");
  assert.equal(await assets.find(urls[2] ?? ""), undefined);
});

test("only built files are served, for any path", async () => {
  for (const path of ["/assets/", "/assets/../package.json", "/host/main.ts", "/index.html", ""]) {
    assert.equal(await assets.find(path), undefined, path);
  }
});
