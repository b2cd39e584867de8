import type { Part, SectionName } from "./document.ts";
import type { HomeView } from "./home.ts";
import { words } from "./words.ts";

/** A kind of part that can be added. */
interface PartKind {
  readonly type: string;
  readonly icon: string;
  readonly label: string;
}

/** The kinds of parts that a section offers, the usual ones first. */
export function kindsOf(section: SectionName): readonly PartKind[] {
  const texts = words.value;
  const kind = (type: string, icon: string, label: string): PartKind => ({ type, icon, label });
  const shared = [
    kind("state", "mdi:lightbulb-outline", texts.kindState),
    kind("time", "mdi:clock-outline", texts.kindTime),
    kind("sun", "mdi:weather-sunset", texts.kindSun),
    kind("presence", "mdi:home-account", texts.kindPresence),
    kind("calendar", "mdi:calendar-outline", texts.kindCalendar),
  ];
  switch (section) {
    case "triggers":
      return [
        ...shared,
        kind("event", "mdi:gesture-tap-button", texts.kindEvent),
        kind("webhook", "mdi:webhook", texts.kindWebhook),
        kind("start", "mdi:power", texts.kindStart),
        kind("mqtt", "mdi:message-arrow-right-outline", texts.kindMqtt),
        kind("cron", "mdi:calendar-clock", texts.kindCron),
      ];
    case "conditions":
      return [
        ...shared,
        kind("any", "mdi:code-parentheses", texts.kindAny),
        kind("none", "mdi:code-parentheses", texts.kindNone),
      ];
    case "actions":
      return [
        kind("command", "mdi:lightbulb-outline", texts.kindCommand),
        kind("ramp", "mdi:chart-bell-curve-cumulative", texts.kindRamp),
        kind("scene", "mdi:movie-open-outline", texts.kindScene),
        kind("notify", "mdi:bell-outline", texts.kindNotify),
        kind("wait", "mdi:timer-sand", texts.kindWait),
        kind("waitFor", "mdi:timer-sand", texts.kindWaitFor),
        kind("if", "mdi:call-split", texts.kindIf),
      ];
  }
}

/** A new part of a type, as complete as can be without asking. */
export function newPart(section: SectionName, type: string, home: HomeView): Part {
  if (section === "actions") return newAction(type, home);
  const isTrigger = section === "triggers";
  const fields: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    state: { device: "", field: "" },
    event: { device: "", event: "" },
    time: isTrigger ? { at: "07:00" } : { after: "22:00", before: "06:00" },
    sun: isTrigger ? { event: "sunset" } : { is: "down" },
    presence: { anyone: isTrigger },
    calendar: { calendar: "*" },
    mqtt: { topic: "" },
    webhook: { name: "" },
    cron: { expression: "0 7 * * *" },
    any: { of: [] },
    none: { of: [] },
    all: { of: [] },
  };
  return { type, ...fields[type] };
}

const MINUTE_MS = 60_000;

function newAction(type: string, home: HomeView): Part {
  switch (type) {
    case "scene":
      return { type, scene: [...home.scenes().keys()][0] ?? "" };
    case "wait":
      return { type, ms: 5 * MINUTE_MS };
    case "ramp":
      return { type, device: "", field: "brightness", to: 100, ms: 15 * MINUTE_MS };
    case "waitFor":
      return { type, trigger: newPart("triggers", "state", home), timeoutMs: 15 * MINUTE_MS };
    case "notify":
      return { type, message: "" };
    case "if":
      // oxlint-disable-next-line unicorn/no-thenable -- the name in the document, which nobody awaits
      return { type, conditions: [], then: [] };
    default:
      return { type: "command", device: "", command: {} };
  }
}
