import type { CommandBody } from "@mantel/plugin-sdk";
import type {
  Action,
  AutomationDocument,
  Condition,
  Trigger,
  TriggerOf,
} from "../engine/document.ts";
import { PLACEHOLDER } from "../engine/placeholders.ts";
import { sectionsOf } from "../engine/undo.ts";
import type { NamedThing } from "./protocol.ts";

/** Writes a document as the source text of a file. `find` gives the device or scene of an id. */
export function toCode(
  document: AutomationDocument,
  find: (id: string) => NamedThing | undefined,
): string {
  return new Writer(find).write(document);
}

type Fields = Readonly<Record<string, unknown>>;

const UNITS = [
  ["days", 86_400_000],
  ["hours", 3_600_000],
  ["minutes", 60_000],
  ["seconds", 1_000],
] as const;

/** The words for the edges of events. */
const EDGE_VERBS = { start: "starts", end: "ends", reminder: "reminds" } as const;

/** Words that a constant cannot have: those of the language and of generated code. */
const TAKEN = ["run", "home", "when", "default", "new", "delete", "switch", "class", "function"];

class Writer {
  readonly #find: (id: string) => NamedThing | undefined;
  readonly #imports = new Set<string>(["when"]);
  /** The constants of devices and scenes by their ids. */
  readonly #constants = new Map<string, { readonly name: string; readonly value: string }>();

  constructor(find: (id: string) => NamedThing | undefined) {
    this.#find = find;
  }

  write({ name, enabled, mode, description, ...document }: AutomationDocument): string {
    const triggers = document.triggers.map((each) => this.#trigger(each)).join(", ");
    const conditions = document.conditions.map((each) => this.#condition(each)).join(", ");
    const lines = this.#actions(document.actions, "    ");
    const chain = [
      `when(${triggers})`,
      ...(conditions === "" ? [] : [`  .if(${conditions})`]),
      `  .named(${text(name)})`,
      ...(mode === "single" ? [] : [`  .mode(${text(mode)})`]),
      ...(enabled ? [] : ["  .disabled()"]),
      `  .then(async (${lines.some((line) => line.includes("run.")) ? "run" : ""}) => {`,
      ...lines,
      "  });",
    ];
    const comment = (description ?? "").split("\n").filter((line) => line.trim() !== "");
    const constants = [...this.#constants.values()].map(
      (each) => `const ${each.name} = ${each.value};`,
    );
    const blocks = [
      `import { ${[...this.#imports].toSorted().join(", ")} } from "mantel";`,
      constants.join("\n"),
      [...comment.map((line) => `// ${line.trim()}`), ...chain].join("\n"),
    ];
    return `${blocks.filter((block) => block !== "").join("\n\n")}\n`;
  }

  #trigger(trigger: Trigger): string {
    switch (trigger.type) {
      case "state":
        return this.#stateTrigger(trigger);
      case "event":
        return `${this.#thing(trigger.device)}.emits(${text(trigger.event)})`;
      case "time":
        return this.#call("at", text(trigger.at), { days: trigger.days, missed: trigger.missed });
      case "cron":
        return this.#call("cron", text(trigger.expression), { missed: trigger.missed });
      case "sun": {
        const verb = trigger.event === "sunrise" ? "rises" : "sets";
        const { offsetMs, missed } = trigger;
        return this.#call(`${this.#use("sun")}.${verb}`, "", { offset: offsetMs, missed });
      }
      case "calendar": {
        const { calendar, edge = "start", match, offsetMs, missed } = trigger;
        const events = `${this.#use("calendar")}(${text(calendar)})`;
        return this.#call(`${events}.${EDGE_VERBS[edge]}`, "", { match, offset: offsetMs, missed });
      }
      case "mqtt": {
        const { topic, payload } = trigger;
        const given = payload === undefined ? "" : `, ${text(payload)}`;
        return `${this.#use("mqtt")}(${text(topic)}${given})`;
      }
      case "presence":
        return `${this.#people(trigger.person)}.${trigger.anyone ? "arrives" : "leaves"}()`;
      case "webhook":
        return `${this.#use("webhook")}(${text(trigger.name)})`;
      case "start":
        return `${this.#use("start")}()`;
    }
  }

  #stateTrigger({ device, field, to, from, forMs, ...limits }: TriggerOf<"state">): string {
    const thing = this.#thing(device);
    const { above, below, hysteresis } = limits;
    if (above !== undefined || below !== undefined) {
      const given = { above, below, hysteresis, for: forMs };
      return this.#call(`${thing}.crosses`, text(field), given);
    }
    if (to === undefined || from !== undefined) {
      return this.#call(`${thing}.changes`, text(field), { from, to, for: forMs });
    }
    const word =
      this.#kindOf(device) === "binary-sensor" ? VERBS[`${field} ${text(to)}`] : undefined;
    const isSwitch = field === "on" && SWITCHES.includes(this.#kindOf(device));
    const verb = isSwitch ? (to === true ? "turnsOn" : "turnsOff") : word;
    if (verb !== undefined) return this.#call(`${thing}.${verb}`, "", { for: forMs });
    return this.#call(`${thing}.becomes`, `${text(field)}, ${text(to)}`, { for: forMs });
  }

  #condition(condition: Condition): string {
    switch (condition.type) {
      case "state":
        return this.#valueCondition(this.#thing(condition.device), [condition.field], condition);
      case "variable":
        return this.#valueCondition(this.#variable(condition.name), [], condition);
      case "time": {
        const { after = "00:00", before = "24:00", days } = condition;
        const given = [after, before === "24:00" ? "00:00" : before].map(text).join(", ");
        return `${this.#use("between")}(${given}${days ? `, ${text(days)}` : ""})`;
      }
      case "sun":
        return `${this.#use("sun")}.${condition.is === "up" ? "isUp" : "isDown"}`;
      case "presence":
        if (condition.person === undefined) {
          return this.#use(condition.anyone ? "somebodyHome" : "nobodyHome");
        }
        return `${this.#thing(condition.person, "tracker")}.${condition.anyone ? "isHome" : "isAway"}`;
      case "calendar": {
        const events = `${this.#use("calendar")}(${text(condition.calendar)})`;
        return this.#call(`${events}.isBusy`, "", { match: condition.match });
      }
      default: {
        const parts = condition.of.map((each) => this.#condition(each)).join(", ");
        return `${this.#use(condition.type)}(${parts})`;
      }
    }
  }

  /** A condition on the value of a field of a device, or of a variable. */
  #valueCondition(
    subject: string,
    field: readonly string[],
    {
      equals,
      above,
      below,
    }: Pick<Extract<Condition, { type: "state" }>, "equals" | "above" | "below">,
  ): string {
    const call = (word: string, ...given: unknown[]) =>
      `${subject}.${word}(${[...field, ...given].map(text).join(", ")})`;
    const parts = [
      ...(equals === undefined ? [] : [call("is", equals)]),
      ...(above === undefined ? [] : [call("isAbove", above)]),
      ...(below === undefined ? [] : [call("isBelow", below)]),
    ];
    const [only, second] = parts;
    if (only === undefined) return call("isKnown");
    return second === undefined ? only : `${this.#use("all")}(${parts.join(", ")})`;
  }

  #actions(actions: readonly Action[], indent: string): string[] {
    return actions.flatMap((action) => this.#action(action, indent));
  }

  #action(action: Action, indent: string): string[] {
    switch (action.type) {
      case "command":
        return [`${indent}await ${this.#command(action)};`];
      case "scene":
        return [`${indent}await ${this.#thing(action.scene, "scene")}.activate();`];
      case "wait": {
        const times = [action.ms, ...(action.maxMs === undefined ? [] : [action.maxMs])];
        return [`${indent}await run.wait(${times.map((ms) => this.#duration(ms)).join(", ")});`];
      }
      case "ramp": {
        const { device, field, to, ms } = action;
        const given = [text(field), String(to), this.#duration(ms)].join(", ");
        return [`${indent}await ${this.#thing(device)}.ramp(${given});`];
      }
      case "variable":
        return [`${indent}await ${this.#variableAction(action)};`];
      case "waitFor": {
        const trigger = this.#trigger(action.trigger);
        return [`${indent}await run.waitFor(${trigger}, ${this.#duration(action.timeoutMs)});`];
      }
      case "notify":
        return [
          `${indent}await ${this.#call("run.notify", this.#value(action.message, true), { to: action.to })};`,
        ];
      case "if": {
        const conditions = action.conditions.map((each) => this.#condition(each)).join(", ");
        const otherwise = action.else ?? [];
        return [
          `${indent}if (await run.check(${conditions})) {`,
          ...this.#actions(action.then, `${indent}  `),
          ...(otherwise.length === 0
            ? []
            : [`${indent}} else {`, ...this.#actions(otherwise, `${indent}  `)]),
          `${indent}}`,
        ];
      }
    }
  }

  #command({ device, command, forMs }: Extract<Action, { type: "command" }>): string {
    const thing = this.#thing(device);
    const isSwitch = SWITCHES.includes(this.#kindOf(device));
    const { on, ...others } = command;
    const isPlain = !PLACEHOLDER.test(text(command));
    if (isSwitch && isPlain && on === true) {
      return this.#call(`${thing}.on`, "", { ...others, for: forMs });
    }
    if (isSwitch && on === false && Object.keys(others).length === 0) {
      return this.#call(`${thing}.off`, "", { for: forMs });
    }
    return this.#call(`${thing}.set`, this.#value(flat(command)), { for: forMs });
  }

  #variableAction({ name, set, add }: Extract<Action, { type: "variable" }>): string {
    if (add !== undefined) {
      return `${this.#variable(name, 0)}.update((value) => Number(value) + ${add})`;
    }
    const variable = this.#variable(name);
    return set === undefined ? `${variable}.get()` : `${variable}.set(${this.#value(set)})`;
  }

  /** Plain data as source text, with expressions in place of placeholders. `isText` writes a template in any case. */
  #value(value: unknown, isText = false): string {
    if (typeof value === "string") return this.#text(value, isText);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return text(value);
    const fields = Object.entries(value).map(
      ([name, each]) => `${keyOf(name)}: ${this.#value(each)}`,
    );
    return `{ ${fields.join(", ")} }`;
  }

  #text(value: string, isText: boolean): string {
    const expression = (match: RegExpMatchArray): string => {
      const [, kind, path = ""] = match;
      const [, first = "", ...rest] = path.split(".");
      if (kind === "variable") return `await ${this.#variable(first)}.get()`;
      if (first === "body") return `run.body(${rest.map(text).join(", ")})`;
      return `run.trigger.${first}`;
    };
    const matches = [...value.matchAll(new RegExp(PLACEHOLDER, "g"))];
    const [first] = matches;
    if (!first) return text(value);
    if (first[0] === value && !isText) return expression(first);
    let [written, end] = ["", 0];
    for (const match of matches) {
      written += `${templateText(value.slice(end, match.index))}\${${expression(match)} ?? ""}`;
      end = match.index + match[0].length;
    }
    return `\`${written}${templateText(value.slice(end))}\``;
  }

  /** A call with an object of options, without those that are absent. */
  #call(callee: string, first: string, options: Fields): string {
    const given = Object.entries(options).filter(([, value]) => value !== undefined);
    const written = given.map(([name, value]) => {
      const isTime = name === "for" || name === "offset";
      return `${keyOf(name)}: ${isTime ? this.#duration(Number(value)) : text(value)}`;
    });
    const name = /^[a-z]+$/.test(callee) ? this.#use(callee) : callee;
    const parts = [first, written.length === 0 ? "" : `{ ${written.join(", ")} }`];
    return `${name}(${parts.filter((each) => each !== "").join(", ")})`;
  }

  #duration(ms: number): string {
    const size = Math.abs(ms);
    const found = UNITS.find(([, unit]) => size >= unit && size % unit === 0);
    if (!found) return String(ms);
    const [name, unit] = found;
    return `${ms < 0 ? "-" : ""}${this.#use(name)}(${size / unit})`;
  }

  #use(name: string): string {
    this.#imports.add(name);
    return name;
  }

  #kindOf(id: string): string {
    return this.#find(id)?.kind ?? "";
  }

  #people(person: string | undefined): string {
    return person === undefined ? this.#use("presence") : this.#thing(person, "tracker");
  }

  /** The constant of a variable. */
  #variable(name: string, initial: unknown = null): string {
    const key = `variable ${name}`;
    const known = this.#constants.get(key);
    const constant = known?.name ?? this.#freeName(name);
    if (!known || initial !== null) {
      const type = initial === null ? "<unknown>" : "";
      const value = `${this.#use("variable")}${type}(${text(name)}, ${text(initial)})`;
      this.#constants.set(key, { name: constant, value });
    }
    return constant;
  }

  /** The constant of a device or scene. */
  #thing(id: string, kind = ""): string {
    const known = this.#constants.get(id);
    if (known) return known.name;
    this.#use("home");
    const found = this.#find(id);
    const word = (found?.kind ?? kind).replaceAll(/-([a-z])/g, (_, letter: string) =>
      letter.toUpperCase(),
    );
    const value = `home.${word === "" ? "device" : word}(${text(found?.name ?? id)})`;
    const name = this.#freeName(found?.name ?? id);
    this.#constants.set(id, { name, value });
    return name;
  }

  #freeName(words: string): string {
    const camel = words
      .normalize("NFKD")
      .replaceAll(/[^A-Za-z0-9 :-]/g, "")
      .split(/[^A-Za-z0-9]+/)
      .filter((word) => word !== "")
      .map((word, at) =>
        at === 0 ? word.toLowerCase() : word.charAt(0).toUpperCase() + word.slice(1),
      )
      .join("");
    const start = /^[a-z]/.test(camel) ? camel : `device${camel}`;
    const isTaken = (name: string) =>
      TAKEN.includes(name) ||
      EXPORTS.includes(name) ||
      [...this.#constants.values()].some((each) => each.name === name);
    for (let number = 1; ; number++) {
      const name = number === 1 ? start : `${start}${number}`;
      if (!isTaken(name)) return name;
    }
  }
}

const EXPORTS = (
  "seconds minutes hours days at cron sun calendar presence mqtt webhook start between all any none " +
  "somebodyHome nobodyHome variable"
).split(" ");
const SWITCHES = ["light", "switch", "plug", "fan", "media-player", "group", "siren", "humidifier"];
const VERBS: Readonly<Record<string, string>> = {
  "contact false": "opens",
  "contact true": "closes",
  "motion true": "detectsMotion",
  "motion false": "motionEnds",
};

const text = (value: unknown) => JSON.stringify(value);
const keyOf = (name: string) => (/^[A-Za-z]\w*$/.test(name) ? name : text(name));

const templateText = (value: string) => value.replaceAll(/[`\\]|\$\{/g, (each) => `\\${each}`);

/** The fields of a command with their places, such as `parts/light/on`. */
function flat(command: CommandBody): Fields {
  return Object.fromEntries(
    sectionsOf(command).flatMap(([place, fields]) =>
      Object.entries(fields).map(([name, value]) => [place + name, value as unknown]),
    ),
  );
}
