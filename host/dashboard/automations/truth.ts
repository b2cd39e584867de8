import type { CommandBody } from "@mantel/plugin-sdk/device";
import { currentLocale } from "../i18n/language.ts";
import { isRecord, type Part, partIn, partsIn, type SectionName } from "./document.ts";
import { fieldOf, type HomeView, joined, peopleOf, valueWords, WEEKDAYS } from "./home.ts";
import { isKnown } from "./known.ts";
import { flatCommand } from "./phrases.ts";
import { words } from "./words.ts";

/** The present state behind a part: a text, and for a condition whether it holds. */
export interface Live {
  readonly text: string;
  /** `undefined` for parts that are not conditions, and for those that only the host can check. */
  readonly holds: boolean | undefined;
}

/** True if a condition holds now, as far as this page knows; `undefined` if it does not know. */
export function conditionHolds(part: Part, home: HomeView): boolean | undefined {
  if (!isKnown("conditions", part)) return undefined;
  switch (part.type) {
    case "state":
      return stateHolds(part, home);
    case "time":
      return timeHolds(part, home);
    case "sun": {
      const sun = home.sun();
      return sun && sun.isUp === (part["is"] === "up");
    }
    case "presence": {
      if (typeof part["person"] === "string") {
        const isHome = home.device(part["person"])?.state["home"];
        return typeof isHome === "boolean" ? isHome === part["anyone"] : undefined;
      }
      const { here, away } = peopleOf(home);
      if (here.length === 0 && away.length === 0) return undefined;
      return here.length > 0 === part["anyone"];
    }
    case "all":
      return allHold(innerOf(part, home));
    case "any":
      return negated(allHold(innerOf(part, home).map(negated)));
    case "none":
      return allHold(innerOf(part, home).map(negated));
    default:
      return undefined;
  }
}

function innerOf(part: Part, home: HomeView): (boolean | undefined)[] {
  return partsIn(part["of"]).map((each) => conditionHolds(each, home));
}

function allHold(results: readonly (boolean | undefined)[]): boolean | undefined {
  if (results.includes(false)) return false;
  return results.includes(undefined) ? undefined : true;
}

const negated = (value: boolean | undefined): boolean | undefined =>
  value === undefined ? undefined : !value;

function stateHolds(part: Part, home: HomeView): boolean | undefined {
  const field = fieldOf(home.device(String(part["device"])), String(part["field"]));
  const { value } = field ?? {};
  if (value === undefined || value === null) return undefined;
  const { above, below, equals } = part;
  if (typeof above === "number" && !(typeof value === "number" && value > above)) return false;
  if (typeof below === "number" && !(typeof value === "number" && value < below)) return false;
  return equals === undefined || JSON.stringify(equals) === JSON.stringify(value);
}

/** A span across midnight belongs to the day on which it begins. */
function timeHolds({ after = "00:00", before = "24:00", days }: Part, home: HomeView): boolean {
  const { time, day } = home.clock();
  const [from, to] = [String(after), String(before)];
  const wraps = from > to;
  const isWithin = wraps ? time >= from || time < to : time >= from && time < to;
  const beganYesterday = wraps && time < to;
  const began = beganYesterday ? WEEKDAYS.at((WEEKDAYS.indexOf(day) + 6) % 7) : day;
  return isWithin && (!Array.isArray(days) || days.includes(began));
}

/** The present state behind a part; `undefined` if there is nothing to say. */
export function liveOf(section: SectionName, part: Part, home: HomeView): Live | undefined {
  if (!isKnown(section, part)) return { text: words.value.notEditable, holds: undefined };
  const holds = section === "conditions" ? conditionHolds(part, home) : undefined;
  const text = textOf(section, part, home);
  return text === undefined && holds === undefined
    ? undefined
    : { text: text ?? (holds === true ? words.value.yesNow : words.value.notNow), holds };
}

function textOf(section: SectionName, part: Part, home: HomeView): string | undefined {
  switch (part.type) {
    case "state":
    case "event":
      return deviceNow(part, home);
    case "command":
      return commandNow(part, home);
    case "ramp":
      return deviceNow(part, home);
    case "presence":
      return peopleNow(home);
    case "sun":
      return section === "conditions" ? sunNow(home) : undefined;
    case "notify":
      return `“${String(part["message"])}”`;
    case "waitFor": {
      const trigger = partIn(part["trigger"]);
      return trigger && textOf("triggers", trigger, home);
    }
    default:
      return undefined;
  }
}

function deviceNow(part: Part, home: HomeView): string | undefined {
  const texts = words.value;
  const device = home.device(String(part["device"]));
  if (!device) return part["device"] === "" ? undefined : texts.deviceGone;
  if (!device.available) return texts.noAnswer;
  if (part.type === "event") return undefined;
  const field = fieldOf(device, String(part["field"]));
  if (!field) return texts.noField;
  const isKnownValue = field.value !== undefined && field.value !== null;
  return isKnownValue ? texts.now(valueWords(field, field.value, home)) : texts.unknownNow;
}

function sunNow(home: HomeView): string {
  const texts = words.value;
  const sun = home.sun();
  if (!sun) return texts.noPlace;
  return texts.now(sun.isUp ? texts.light : texts.dark);
}

function commandNow(part: Part, home: HomeView): string | undefined {
  const device = home.device(String(part["device"]));
  if (!device) return part["device"] === "" ? undefined : words.value.deviceGone;
  if (!device.available) return words.value.noAnswer;
  const command = isRecord(part["command"]) ? (part["command"] as CommandBody) : {};
  const keys = flatCommand(command).map(([key]) => key);
  const key = keys.includes("on") ? "on" : keys[0];
  const field = key === undefined ? undefined : fieldOf(device, key);
  if (!field || field.value === undefined || field.value === null) return undefined;
  return words.value.now(valueWords(field, field.value, home));
}

function peopleNow(home: HomeView): string {
  const { here, away } = peopleOf(home);
  const texts = words.value;
  if (here.length > 0) return texts.areHome(joined(here, currentLocale.value), here.length);
  return away.length > 0 ? texts.nobodyHomeNow : texts.noTrackers;
}

/** A sentence about the effect of a trigger that fired now. */
export function verdictOf(conditions: readonly Part[], home: HomeView): string {
  const texts = words.value;
  const results = conditions.map((part) => ({ part, holds: conditionHolds(part, home) }));
  const failed = results.find(({ holds }) => holds === false);
  if (failed) {
    const reason = liveOf("conditions", failed.part, home)?.text ?? "";
    return texts.wouldStop(reason === texts.notNow ? "" : reason);
  }
  return results.some(({ holds }) => holds === undefined) ? texts.mightRun : texts.wouldRun;
}
