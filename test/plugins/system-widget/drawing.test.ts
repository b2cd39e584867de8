import assert from "node:assert/strict";
import { test } from "node:test";
import { Check } from "typebox/value";
import { previewSample } from "../../../plugins/system-widget/widget/preview.ts";
import { channels } from "../../../plugins/system/channels.ts";
import { mountOnPage } from "../../helpers/page/widget.ts";

const { default: system } = await import("../../../plugins/system-widget/widget.ts");

test("system shows the figure of the settings, and a line once there are two samples", async (t) => {
  const { api, config, root, textOf, waitFor } = mountOnPage(t, system, {
    channels: { "system/sample": sample(10, 5) },
    handedOver: [sample(5, 40)],
  });
  await waitFor("b small");
  const cpu = textOf(".title, b");
  const lines = root.querySelectorAll(".line").length;
  const figures = ["memory", "temperature", "disk"].map((metric) => {
    config.value = { metric };
    return textOf(".title, b, .note");
  });

  assert.deepEqual([cpu, lines], [["Server CPU", "5%"], 1]);
  assert.deepEqual(figures, [
    ["Memory", "61%"],
    ["Temperature", "–", "No sensor"],
    ["Disk", "80%"],
  ]);
  assert.deepEqual(api.asked, ["GET /channels/system/sample"]);
});

test("while the host is away the last figure shows its age", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 20, 12, 5) });
  const { online, textOf, root } = mountOnPage(t, system, {
    channels: { "system/sample": sample(0, 40) },
    handedOver: [sample(0, 40)],
  });

  online.value = false;

  assert.deepEqual(textOf("b, .note"), ["40%", "5 min ago"]);
  assert.match(root.querySelector("section")?.className ?? "", /stale/);
});

test("the last sixty samples are handed over to the next code", (t) => {
  const samples = Array.from({ length: 60 }, (_, second) => sample(second, 1));
  const { mounted } = mountOnPage(t, system, {
    channels: { "system/sample": samples[59] },
    handedOver: samples,
  });

  assert.deepEqual(mounted.handOver(), { stateVersion: 1, data: samples });
});

function sample(second: number, percent: number) {
  return {
    sampledAt: `2026-11-20T12:00:${String(second).padStart(2, "0")}Z`,
    cpu: { percent, perCore: [], loadAverage: [], temperatureC: null },
    memory: { percent: 61.4 },
    temperature: { cpuC: null, sensors: [] },
    disks: [{ percent: 12 }, { percent: 79.6 }, { percent: null }],
    network: [],
  };
}

test("the sample in the editor is one that the channel accepts", () => {
  assert.ok(Check(channels.sample.schema, previewSample()));
});
