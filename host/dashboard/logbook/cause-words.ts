import type { Cause } from "@mantel/plugin-sdk/cause";
import { iconOf } from "@mantel/plugin-sdk/ui/device-icon";
import { factSentence } from "../automations/fact-words.ts";
import { fieldOf, type HomeView, valueWords } from "../automations/home.ts";
import { chainOf, type LogbookEffect, type LogbookEntry } from "./entries.ts";
import { words } from "./words.ts";

/** The parts of the home that sentences about causes and changes show. */
export type NamedHome = Pick<HomeView, "device" | "fmt">;

/** The looks of the kinds of causes. */
const LOOKS: Readonly<Record<Cause["kind"], readonly [icon: string, hue: string]>> = {
  person: ["mdi:account", "info"],
  display: ["mdi:tablet-dashboard", "info"],
  token: ["mdi:key-outline", "info"],
  automation: ["mdi:call-split", "ok"],
  scene: ["mdi:movie-open-outline", "info"],
  module: ["mdi:puzzle-outline", "warn"],
  device: ["mdi:gesture-tap", "warn"],
};

/** Icon and hue of a cause; those of the device if it is one. */
export function causeLook(cause: Cause | undefined, home: NamedHome): readonly [string, string] {
  if (!cause) return ["mdi:help-circle-outline", "info"];
  const device = cause.kind === "device" ? home.device(cause.id) : undefined;
  if (device) return [iconOf(device), "warn"];
  // A host of another version may have further kinds.
  return Object.hasOwn(LOOKS, cause.kind) ? LOOKS[cause.kind] : ["mdi:help-circle-outline", "info"];
}

/** One cause in words, such as `Automation “Evening”`. */
export function causeText({ kind, id, name }: Cause, home: NamedHome): string {
  const texts = words.value;
  if (kind === "automation") return texts.automation(name);
  if (kind === "scene") return texts.scene(name);
  return kind === "device" ? (home.device(id)?.name ?? name) : name;
}

/** The kind of a cause in words, such as "a person". */
export function causeKindText({ kind }: Cause): string {
  const texts = words.value;
  const kinds: Readonly<Record<Cause["kind"], string>> = {
    person: texts.aPerson,
    display: texts.aDisplay,
    token: texts.aProgram,
    automation: texts.anAutomation,
    scene: texts.aScene,
    module: texts.aPlugin,
    device: texts.aDevice,
  };
  return Object.hasOwn(kinds, kind) ? kinds[kind] : kind;
}

/** The whole chain in words: "Automation “Evening” ← Front door". */
export function chainText(cause: Cause | undefined, home: NamedHome): string {
  const chain = chainOf(cause).map((each) => causeText(each, home));
  return chain.length === 0 ? words.value.unknownCause : chain.join(" ← ");
}

/** True if a device changed by itself. */
export function isByItself({ device, cause }: Pick<LogbookEntry, "device" | "cause">): boolean {
  return cause?.kind === "device" && cause.id === device;
}

/** The new values of one device, such as "on, 62 %". */
export function effectText({ device, entries }: LogbookEffect, home: NamedHome): string {
  // Of several changes of one field the last one counts.
  const last = new Map(entries.map((entry) => [entry.what, entry]));
  const sorted = [...last.values()].toSorted(
    (a, b) => Number(b.what === "on") - Number(a.what === "on"),
  );
  return sorted.map((entry) => entryText(entry, device, home)).join(", ");
}

function entryText(entry: LogbookEntry, device: string | undefined, home: NamedHome): string {
  const texts = words.value;
  const { kind, what, from, to } = entry;
  switch (kind) {
    case "event":
      return `“${what}”`;
    case "availability":
      return to === false ? texts.noAnswer : texts.answersAgain;
    case "added":
      return texts.added;
    case "removed":
      return texts.removed;
    case "renamed":
      return texts.renamed(String(from), String(to));
    case "failed":
      return texts.failedCommand(reasonText(entry));
    case "scene":
      return sceneText(entry);
    case "run":
      return runText(entry);
    case "record":
      return what;
    default:
      return stateText(entry, device, home);
  }
}

/** The reason of a failed command, in the host's words if its code is not a usual one. */
function reasonText({ what, to }: LogbookEntry): string {
  const texts = words.value;
  const known = new Map([
    ["bridge_down", texts.bridgeDown],
    ["bridge_rate_limited", texts.tooManyCommands],
    ["deadline_passed", texts.noAnswerInTime],
    ["outcome_unknown", texts.answerLost],
  ]);
  return known.get(what) ?? (typeof to === "string" ? to : what);
}

/** The result of a run; a stopped one may have a reason of its own. */
function runText({ what, to }: LogbookEntry): string {
  const texts = words.value;
  const reason = typeof to === "string" ? to : "";
  if (what === "completed") return texts.ran;
  if (what === "cancelled") return texts.runCancelled;
  return what === "stopped" && reason === "" ? texts.runStopped : texts.runFailed(reason);
}

function sceneText({ what, to }: LogbookEntry): string {
  const texts = words.value;
  if (what === "ok") return texts.activated;
  if (what === "partial") return texts.partlyActivated;
  return texts.notActivated(typeof to === "string" ? to : what);
}

function stateText(
  { what, to }: LogbookEntry,
  device: string | undefined,
  home: NamedHome,
): string {
  const field = fieldOf(device === undefined ? undefined : home.device(device), what);
  const value = valueWords(field, to, home);
  const isPlain = typeof to === "boolean" || field?.name === "brightness";
  return isPlain ? value : `${field?.label ?? what} ${value}`;
}

/** A change of a device by itself as a sentence, such as "Bath window opens". */
export function changeText(effect: LogbookEffect, home: NamedHome): string {
  const name = deviceName(effect, home);
  const [only] = effect.entries;
  if (effect.entries.length === 1 && only?.kind === "state" && typeof only.to === "boolean") {
    const field = fieldOf(home.device(effect.device ?? ""), only.what);
    const label = field?.label ?? only.what;
    return factSentence({ field: field?.name ?? "", name, label }, only.to, true);
  }
  return `${name}: ${effectText(effect, home)}`;
}

/** The name of a device as it is now, or as it was when it was removed. */
export function deviceName({ device, entries }: LogbookEffect, home: NamedHome): string {
  if (device === undefined) return "";
  return home.device(device)?.name ?? entries[0]?.deviceName ?? device;
}
