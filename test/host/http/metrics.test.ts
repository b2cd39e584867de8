import assert from "node:assert/strict";
import { test } from "node:test";
import { serveApp } from "./serve-app.ts";

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
    'mantel_module_cpu_percent{module="demo"} 1.5',
    'mantel_module_memory_bytes{module="demo"} 20000000',
    'mantel_module_state{module="demo",state="active"} 1',
    'mantel_module_calls_total{module="demo"} 3',
    'mantel_module_errors_total{module="demo"} 1',
    'mantel_module_reloads_total{module="demo"} 2',
    'mantel_module_drops_total{module="demo"} 0',
    'mantel_module_log_drops_total{module="demo"} 7',
    "# TYPE mantel_module_calls_total counter",
  ]) {
    assert.ok(text.includes(line), line);
  }
  assert.match(text, /mantel_event_loop_lag_seconds\{quantile="0\.99"\} \d/);
  assert.doesNotMatch(text, /heap_bytes\{/, "what is not known is left out");
});

test("figures of a module that is gone are gone", async (t) => {
  const { parts } = await serveApp(t);
  const modules = { ...parts.modules };
  const { api } = await serveApp(t, { modules });
  const before = await (await api("read", "/metrics")).text();

  Object.assign(modules, { list: () => [], work: () => [] });

  const after = await (await api("read", "/metrics")).text();
  assert.deepEqual(
    [before, after].map((text) => text.includes('module="demo"')),
    [true, false],
  );
});
