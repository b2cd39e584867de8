import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
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
