import { setTimeout as delay } from "node:timers/promises";
import { arrived } from "../bench/shared/arrived.ts";
import type { Answer, BridgeId, MqttHome } from "../bench/shared/mqtt-home.ts";

const CHANGES = 300;
const LASTS_MS = 3_000;

/** Moves one lamp's slider 300 times in three seconds and records the answers and the values that reach the lamp. */
export async function moveSlider({ served, devices, command, lamps }: MqttHome, bridge: BridgeId) {
  const [lamp] = await devices(bridge);
  const { received } = lamps[bridge];
  const before = received.length;
  const startedAt = performance.now();
  const answers: Promise<Answer>[] = [];
  for (let at = 1; at <= CHANGES; at++) {
    if (at === CHANGES) await arrived(served.url);
    answers.push(command(lamp?.id ?? "", { brightness: (at / CHANGES) * 100 }));
    const dueAt = startedAt + (at / CHANGES) * LASTS_MS;
    await delay(Math.max(0, dueAt - performance.now()));
  }
  const all = await Promise.all(answers);
  const elapsedMs = performance.now() - startedAt;
  const receivedBySlider = received.slice(before);
  return {
    elapsedMs,
    told: receivedBySlider.length,
    /** Levels are 0 to 254; the slider ends at the top. */
    last: receivedBySlider.at(-1)?.payload["brightness"],
    others: all.filter(({ status }) => status !== 200 && status !== 409).length,
    wrongRetryAfter: all.filter((each) => each.status === 409 && !isRight(each)).length,
  };
}

function isRight({ retryAfter, retryAfterMs = 0 }: Answer): boolean {
  return retryAfterMs > 0 && Number(retryAfter) === Math.max(1, Math.ceil(retryAfterMs / 1_000));
}
