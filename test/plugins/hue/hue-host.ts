import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Device } from "@mantel/plugin-sdk/device";
import type { FakeHueBridge } from "../../fakes/hue-bridge.ts";
import type { TestHost } from "../../helpers/host.ts";
import { until } from "../../helpers/until.ts";

export async function json<T>(answer: Promise<Response>): Promise<T> {
  return (await (await answer).json()) as T;
}

export const deviceList = async (host: TestHost) =>
  (await json<{ devices: Device[] }>(host.api("/smart-home/devices"))).devices;

export const moduleView = (host: TestHost) =>
  json<{ state: string; generation: number; error: { message: string } | null }>(
    host.api("/modules/hue"),
  );

export const command = (host: TestHost, id: string, body: object) =>
  host.api(`/smart-home/devices/${id}/command`, { method: "POST", json: body });

/** Pairs a bridge as a person does, whose address is typed. */
export async function pairBridge(host: TestHost, bridge: FakeHueBridge) {
  await host.api("/modules/hue/setup", { method: "POST" });
  const view = () => json<{ state: string; step: number }>(host.api("/modules/hue/setup"));
  const { step } = await until(
    async () => {
      const seen = await view();
      return seen.state === "asking" && seen;
    },
    { withinMs: 15_000 },
  );
  bridge.pressButton();
  const answer = { step, answer: { bridges: bridge.address } };
  const answered = await host.api("/modules/hue/setup/answer", { method: "POST", json: answer });
  assert.equal(answered.status, 200, await answered.text());
  await until(async () => (await view()).state === "done", { withinMs: 15_000 });
  await until(async () => (await moduleView(host)).state === "active", { withinMs: 15_000 });
}

/** The topics and data of the host's event stream, as they come. */
export async function listen(t: TestContext, host: TestHost) {
  const ended = new AbortController();
  const heard: { topic: string; device?: Device }[] = [];
  const stream = await host.api("/events", { signal: ended.signal });
  const reading = (async () => {
    let text = "";
    for await (const chunk of stream.body ?? []) {
      const events = (text + Buffer.from(chunk).toString()).split("\n\n");
      text = events.pop() ?? "";
      for (const event of events) {
        const topic = /^event: (.*)$/m.exec(event)?.[1];
        const data = /^data: (.*)$/m.exec(event)?.[1];
        if (topic && data) heard.push({ topic, ...(JSON.parse(data) as object) });
      }
    }
  })().catch(() => undefined);
  t.after(async () => {
    ended.abort();
    await reading;
  });
  return heard;
}

/** 200, or 409 with when to come back. */
export async function assertTakenOrTold(answer: Response) {
  if (answer.status === 200) return;
  assert.equal(answer.status, 409);
  const { retryAfterMs } = (await answer.json()) as { retryAfterMs: number };
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
  assert.equal(answer.headers.get("retry-after"), `${seconds}`);
}

/** No faster than its lights take it: ten a second, and what comes late on its way. */
export function assertPaced({ asked, throttled }: FakeHueBridge) {
  const sent = asked.filter(({ method }) => method === "PUT");
  const tookMs = (sent.at(-1)?.at ?? 0) - (sent[0]?.at ?? 0);
  assert.equal(throttled, 0);
  assert.ok(sent.length <= tookMs / 100 + 3, `${sent.length} changes in ${tookMs} ms`);
  return { sent: sent.length, tookMs };
}
