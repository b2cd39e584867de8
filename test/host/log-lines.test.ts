import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { startHost } from "../helpers/host.ts";
import { until } from "../helpers/until.ts";
import { rawStatus } from "./http/serve-app.ts";

const FORGED = '{"level":"error","msg":"forged"}';
/** Line ends of every kind, an escape sequence for terminals, and a change of the reading direction. */
const HOSTILE = ["\n", "\r\n", "\u2028", "\u0085", "\u001b[2J", "\u202e"]
  .map((end) => end + FORGED)
  .join("");

test("outside text cannot create a log line or a control character in one", async (t) => {
  const host = await startHost(t, {
    plugins: ["plugins/system"],
    config: { log: { level: "debug" } },
  });
  const token = await host.token("admin");
  await mkdir(join(host.plugins, "liar"));
  const mantel = { id: "liar", kinds: ["bridge"], server: "index.ts", title: "liar" };
  const bridge = { kind: "liar", commandsPerSecond: 5 };
  await writeFile(
    join(host.plugins, "liar", "index.ts"),
    `import { definePlugin } from "@mantel/plugin-sdk";
    const text = ${JSON.stringify(HOSTILE)};
    export default definePlugin({
      async start({ log, devices }) {
        log.warn(text, { [text]: text, error: new Error(text) });
        console.log(text);
        console.error(text);
        await devices.publish([{ nativeId: text, kind: "light", name: text, state: {}, capabilities: {} }]);
        throw new Error(text);
      },
    });`,
  );
  const manifest = {
    name: "liar",
    version: "1.0.0",
    type: "module",
    mantel: { ...mantel, bridge },
  };
  await writeFile(join(host.plugins, "liar", "package.json"), JSON.stringify(manifest));
  const escaped = encodeURIComponent(HOSTILE.replaceAll("\u202e", ""));
  await rawStatus(host.url, `/api/v1/${escaped}?a=${escaped}`, {
    authorization: `Bearer ${token}`,
  });
  await host.api("/layout", { method: "PUT", json: { name: HOSTILE, [HOSTILE]: HOSTILE } });
  await host.api("/mqtt/publish", { method: "POST", json: { topic: HOSTILE, payload: HOSTILE } });
  await host.api("/config", { method: "PATCH", json: { [HOSTILE]: { [HOSTILE]: HOSTILE } } });
  await host.api("/health", {
    headers: { "user-agent": "\u0085", "x-forwarded-for": FORGED },
  });
  await until(
    async () => {
      const { state } = (await (await host.api("/modules/liar")).json()) as { state?: string };
      return state === "failed";
    },
    { withinMs: 15_000 },
  );

  const lines = host.log().trimEnd().split("\n");

  assert.match(host.log(), /forged/, "it was there to be found");
  for (const line of lines) {
    assert.ok(!line.startsWith(FORGED), line);
    assert.doesNotMatch(line, /[\p{Cc}\u2028\u2029\u202a-\u202e]/u);
  }
});
