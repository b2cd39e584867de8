import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { build } from "esbuild";
import { hasBrowser, openBrowser, openPage } from "../helpers/browser.ts";
import { serveApp } from "../host/http/serve-app.ts";

const ROOT = resolve(import.meta.dirname, "../..");

const EXAMPLES = [
  [process.execPath, "--import", "tsx", "docs/examples/client.ts"],
  ["python3", "docs/examples/client.py"],
  ["sh", "docs/examples/client.sh", "demo:light:1"],
] as const;

test("the examples in each language turn a lamp on", async (t) => {
  const { url, token, commands } = await serveApp(t);
  const env = { ...process.env, MANTEL_URL: url, MANTEL_TOKEN: await token("control") };

  for (const [program, ...args] of EXAMPLES) {
    const { stdout } = await promisify(execFile)(program, args, { cwd: ROOT, env });

    assert.match(stdout, /demo:light:1.*applied|"status":"applied"/, args.join(" "));
  }
  assert.deepEqual(
    commands,
    EXAMPLES.map(() => ({ on: true })),
  );
});

const inBrowser = { skip: hasBrowser() ? false : "Chromium is not installed" };
test(
  "the example for a page turns a lamp on, once the browser is signed in",
  inBrowser,
  async (t) => {
    const { url, token, commands } = await serveApp(t);
    const built = await build({
      entryPoints: [resolve(ROOT, "docs/examples/client-browser.ts")],
      bundle: true,
      write: false,
      format: "esm",
    });
    const script = `<script type="module">${built.outputFiles[0]?.text}</script>`;
    const html = `<!doctype html><html lang="en"><title>Lamp</title><body></body>${script}</html>`;
    const browser = await openBrowser(t);
    const { page } = await openPage(t, browser, `${url}/api`);
    await page.route(`${url}/example`, (route) =>
      route.fulfill({ contentType: "text/html", body: html }),
    );

    await page.goto(`${url}/example`);
    await page.getByText("Open the dashboard and sign in first.").waitFor();
    const body = JSON.stringify({ token: await token("control") });
    const status = await page.evaluate(async (sent) => {
      const headers = { "Content-Type": "application/json" };
      return (await fetch("/api/v1/session", { method: "POST", headers, body: sent })).status;
    }, body);
    await page.reload();
    await page.getByText("demo:light:1 applied").waitFor();

    assert.equal(status, 201);
    assert.deepEqual(commands, [{ on: true }]);
  },
);
