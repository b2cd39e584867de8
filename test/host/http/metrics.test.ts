import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { demoModules, json, rawStatus, serveApp } from "./serve-app.ts";

const PROMTOOL = "/usr/bin/promtool";
const COMMENT = /^# (HELP|TYPE) ([a-zA-Z_]\w*) \S/;
const LABEL = String.raw`[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*"`;
const SAMPLE = new RegExp(String.raw`^(([a-zA-Z_]\w*)(?:\{${LABEL}(?:,${LABEL})*\})?) (\S+)$`);
const withoutPromtool = existsSync(PROMTOOL) ? false : `${PROMTOOL} is not installed`;

test("requests are counted by route and status, never by the path they came with", async (t) => {
  const { url, api } = await serveApp(t);
  await api("read", "/smart-home/devices/demo:light:1");
  await api("read", "/smart-home/devices/demo:light:99");
  await api(null, "/smart-home/devices/demo:light:1");
  await fetch(`${url}/scanner.php`);
  await fetch(`${url}/assets/widgets/demo.0123abcd.js`);

  const response = await api("read", "/metrics");

  const text = await response.text();
  assert.match(response.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/);
  const requests = (route: string, status: number) =>
    `mantel_http_requests_total{method="GET",route="${route}",status="${status}"} 1`;
  assert.ok(text.includes(requests("/smart-home/devices/:id", 200)));
  assert.ok(text.includes(requests("/smart-home/devices/:id", 404)));
  assert.ok(text.includes(requests("/smart-home/devices/:id", 401)));
  assert.ok(text.includes(requests("none", 404)));
  assert.ok(text.includes(requests("/assets/*", 200)));
  assert.ok(!text.includes("scanner"));
});

test("modules and the event loop have their figures", async (t) => {
  const { api } = await serveApp(t);

  const text = await (await api("read", "/metrics")).text();

  for (const line of [
    'mantel_module_cpu_ratio{module="demo"} 0.015',
    'mantel_module_memory_bytes{module="demo"} 20000000',
    'mantel_module_storage_bytes{module="demo"} 4096',
    'mantel_module_state{module="demo",state="active"} 1',
    'mantel_module_calls_total{module="demo"} 3',
    'mantel_module_errors_total{module="demo"} 1',
    'mantel_module_reloads_total{module="demo"} 2',
    'mantel_module_drops_total{module="demo"} 0',
    'mantel_module_log_drops_total{module="demo"} 7',
    'mantel_module_restarts_total{module="demo"} 0',
    `mantel_info{version="0.0.0",node="${process.versions.node}"} 1`,
    "mantel_channel_values_total 0",
    "mantel_event_streams 0",
    "mantel_event_streams_dropped_total 0",
    "mantel_log_records_dropped_total 0",
    "# TYPE mantel_module_calls_total counter",
  ]) {
    assert.ok(text.includes(line), line);
  }
  assert.match(text, /mantel_event_loop_lag_seconds\{percentile="99"\} \d/);
  assert.doesNotMatch(text, /heap_bytes\{/, "what is not known is left out");
});

test("the figures of a removed module are removed", async (t) => {
  const modules = demoModules();
  const { api } = await serveApp(t, { modules });
  const before = await (await api("read", "/metrics")).text();

  Object.assign(modules, { list: () => [], work: () => [] });

  const after = await (await api("read", "/metrics")).text();
  assert.deepEqual(
    [before, after].map((text) => text.includes('module="demo"')),
    [true, false],
  );
});

test("every line is valid Prometheus text format, and every series appears once", async (t) => {
  const { api } = await serveApp(t);
  await api("read", "/health");

  const text = await (await api("read", "/metrics")).text();

  const series = seriesOf(text);
  assert.ok(series.length > 30, `${series.length} series`);
  assert.deepEqual(series.toSorted(), [...new Set(series)].toSorted());
});

test("Prometheus' promtool reports no problems", { skip: withoutPromtool }, async (t) => {
  const { api } = await serveApp(t);
  const text = await (await api("read", "/metrics")).text();

  const said = await new Promise<string>((resolve) => {
    const child = execFile(PROMTOOL, ["check", "metrics"], (error, stdout, stderr) =>
      resolve(`${error?.code ?? 0}${stdout}${stderr}`),
    );
    child.stdin?.end(text);
  });

  assert.equal(said, "0");
});

test("request data cannot create new metric series", async (t) => {
  const { url, api } = await serveApp(t);
  const ask = async (at: number) => {
    await api("read", `/smart-home/devices/demo:light:${at + 100}`);
    await api("read", `/modules/guess-${at}?probe=${at}`);
    await api("control", `/smart-home/scenes/host:scene:s${at}/activate`, json("POST", {}));
    await api(null, `/calendar/feeds/secret-${at}.ics`);
    await api("read", `/health`, { method: "DELETE", headers: { "x-probe": String(at) } });
    await rawStatus(url, `/assets/${at}/%2e%2e/x`, {});
    await fetch(`${url}/wp-${at}.php`, { method: "PROPFIND" });
  };
  const count = async () => seriesOf(await (await api("read", "/metrics")).text()).length;
  await ask(0);
  await count(); // the read itself makes series of its own
  const before = await count();

  for (let at = 1; at <= 20; at++) await ask(at);

  assert.equal(await count(), before);
});

/**
 * Names with labels of all samples.
 * @throws when a line is not of the text format, or its name was not declared before
 */
function seriesOf(text: string): string[] {
  const types = new Set<string>();
  assert.ok(text.endsWith("\n"), "the last line ends");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .flatMap((line) => {
      if (!line.startsWith("#")) return [sampleOf(line, types)];
      const [, kind, name = ""] = COMMENT.exec(line) ?? assert.fail(line);
      if (kind === "TYPE") types.add(name);
      return [];
    });
}

function sampleOf(line: string, types: ReadonlySet<string>): string {
  const [, series = "", name = "", value = ""] = SAMPLE.exec(line) ?? assert.fail(line);
  assert.ok(types.has(name) || types.has(name.replace(/_(bucket|sum|count)$/, "")), line);
  assert.ok(value === "+Inf" || Number.isFinite(Number(value)), line);
  return series;
}
