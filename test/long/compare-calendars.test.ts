import assert from "node:assert/strict";
import { test } from "node:test";
import { compareEngines } from "../../scripts/compare-calendars/compare-engines.ts";
import { withoutEngines } from "../../scripts/compare-calendars/engines.ts";

const EVENTS = 200;
const SEED = Number(process.env["SEED"] ?? Date.now() % 2 ** 31);

test(
  `in ${EVENTS} random events with changed occurrences, other engines find nothing wrong (seed ${SEED})`,
  { skip: withoutEngines() },
  async (t) => {
    const { report, undecided } = await compareEngines(EVENTS, SEED);

    t.diagnostic(report);
    assert.equal(undecided, 0, report);
  },
);
