import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { channelLines, LONGEST_TURN_MS, openChannelFuzz } from "../../scripts/fuzz/channel.ts";
import { collectedLog } from "../helpers/collected-log.ts";
import { FUZZ_SECONDS } from "./settings.ts";

const SAMPLED = 500;
/** About as many as a slow machine sends in that time. */
const MESSAGES = FUZZ_SECONDS * 2_000;

test("messages of a hostile plugin neither throw in the host nor block it", async (t) => {
  const seed = Number(process.env["FUZZ_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
  t.diagnostic(`FUZZ_SEED=${seed}`);
  const fuzz = await openChannelFuzz(collectedLog());
  t.after(() => fuzz.close());

  for (let at = 0; at < MESSAGES; at += SAMPLED) {
    const lines = fc.sample(channelLines, { numRuns: SAMPLED, seed: seed + at });
    for (const line of lines) await fuzz.send(line);
  }

  const { messages, ends, longestTurnMs } = fuzz.counts;
  t.diagnostic(`${messages} messages, ${ends} ends, longest turn ${longestTurnMs.toFixed(1)} ms`);
  assert.equal(messages, MESSAGES);
  assert.ok(ends > messages / 20 && longestTurnMs <= LONGEST_TURN_MS);
});
