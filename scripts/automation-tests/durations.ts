import { DURATIONS } from "../../plugins/automations/code/api.ts";

// The module `mantel` in tests of automations.
export const { seconds, minutes, hours, days } = DURATIONS;
