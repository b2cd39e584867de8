// npm run compare-calendars -- [--events 10000] [--seed N]: random events, with changed occurrences, expanded by Mantel,
// by dateutil, by libical, by sabre/vobject and by a day-by-day search. Ends with 1 if something differs that RFC 5545 does not decide for Mantel.
import { parseArgs } from "node:util";
import { compareEngines } from "./compare-calendars/compare-engines.ts";
import { withoutEngines } from "./compare-calendars/engines.ts";

const { values } = parseArgs({
  options: {
    events: { type: "string", default: "10000" },
    seed: { type: "string", default: String(Date.now() % 2 ** 31) },
  },
});
const missing = withoutEngines();
if (missing !== false) {
  console.error(missing);
  process.exit(1);
}
const { report, undecided } = await compareEngines(Number(values.events), Number(values.seed));
console.log(report);
process.exitCode = undecided === 0 ? 0 : 1;
