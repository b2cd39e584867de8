import type { CommandBody, Device } from "@mantel/plugin-sdk/device";
import { iconOf } from "@mantel/plugin-sdk/ui/device-icon";
import { currentLocale } from "../i18n/language.ts";
import { isRecord, type Part, partIn, partsIn, type SectionName } from "./document.ts";
import { factClause } from "./fact-words.ts";
import { type DeviceField, fieldOf, type HomeView, joined, spanText, valueWords } from "./home.ts";
import { isKnown } from "./known.ts";
import { words } from "./words.ts";

/** A part of an automation in words. */
export interface Phrase {
  readonly icon: string;
  /** The name of a hue of the theme, such as `light`. */
  readonly hue: string;
  readonly text: string;
  /** True if the page cannot edit it. */
  readonly isUnknown?: boolean;
  /** True if something is missing, such as the device. */
  readonly isOpen?: boolean;
}

type Write = (part: Part, home: HomeView) => Phrase;

/** A trigger, condition or action in words. */
export function phraseOf(section: SectionName, part: Part, home: HomeView): Phrase {
  const writers: Readonly<Record<string, Write>> = WRITERS[section];
  if (!isKnown(section, part)) {
    const text = words.value.unknownPart(part.type);
    return { icon: "mdi:help-circle-outline", hue: "info", text, isUnknown: true };
  }
  return writers[part.type]?.(part, home) ?? phrase("mdi:help-circle-outline", "info", part.type);
}

const HUES: Readonly<Partial<Record<Device["kind"], string>>> = {
  light: "light",
  group: "light",
  plug: "light",
  switch: "light",
  thermostat: "heat",
  "air-conditioner": "cool",
  cover: "cool",
  fan: "cool",
  lock: "ok",
  tracker: "ok",
  "media-player": "media",
};

function phrase(icon: string, hue: string, text: string): Phrase {
  return { icon, hue, text };
}

/** A phrase about a device. Without a device it asks for one. */
function deviceOf(
  part: Part,
  home: HomeView,
  write: (device: Device | undefined, name: string) => string,
): Phrase {
  const id = String(part["device"]);
  if (id === "") {
    const text = words.value.chooseDevice;
    return { icon: "mdi:help-circle-outline", hue: "warn", text, isOpen: true };
  }
  const device = home.device(id);
  const icon = device ? iconOf(device) : "mdi:help-circle-outline";
  const hue = (device && HUES[device.kind]) ?? "warn";
  return phrase(icon, hue, write(device, device?.name ?? id));
}

const state =
  (becomes: boolean): Write =>
  (part, home) =>
    deviceOf(part, home, (device, name) => {
      const key = String(part["field"]);
      const field = fieldOf(device, key);
      const label = field?.label ?? key;
      const to = becomes ? part["to"] : part["equals"];
      const sentence = stateText({ part, home, field, name, label, to, becomes });
      return withFor(sentence, part["forMs"]);
    });

interface StateText {
  readonly part: Part;
  readonly home: HomeView;
  readonly field: DeviceField | undefined;
  readonly name: string;
  readonly label: string;
  readonly to: unknown;
  readonly becomes: boolean;
}

function stateText({ part, home, field, name, label, to, becomes }: StateText): string {
  const texts = words.value;
  const measured = measuredOf(name, label, field);
  const limits = limitText(part, measured, (each) => valueWords(field, each, home), becomes);
  if (limits !== undefined) return limits;
  const fact = { field: field?.name ?? "", name, label };
  if (typeof to === "boolean") return factClause(fact, to, becomes);
  if (to !== undefined) {
    return texts[becomes ? "becomes" : "is"](measured, valueWords(field, to, home));
  }
  const { from } = part;
  return becomes && typeof from === "boolean"
    ? factClause(fact, !from, becomes)
    : texts.changes(measured);
}

function limitText(
  { above, below }: Part,
  measured: string,
  value: (limit: number) => string,
  becomes: boolean,
): string | undefined {
  const texts = words.value;
  if (typeof above === "number" && typeof below === "number") {
    return texts.between(measured, value(above), value(below));
  }
  if (typeof above === "number")
    return texts[becomes ? "rises" : "isAbove"](measured, value(above));
  if (typeof below === "number")
    return texts[becomes ? "falls" : "isBelow"](measured, value(below));
  return undefined;
}

/** "Bath climate: Humidity", or the name alone if the device measures only that. */
function measuredOf(name: string, label: string, field: DeviceField | undefined): string {
  return field?.name === "temperature" && /climate|temperatur/i.test(name)
    ? name
    : `${name}: ${label}`;
}

function withFor(text: string, forMs: unknown): string {
  return typeof forMs === "number" && forMs > 0 ? words.value.lasting(text, spanText(forMs)) : text;
}

function daysText(days: unknown): string {
  if (!Array.isArray(days) || days.length === 0 || days.length === 7) return "";
  const key = days.join();
  if (key === "mon,tue,wed,thu,fri") return ` ${words.value.onWeekdays}`;
  if (key === "sat,sun") return ` ${words.value.onWeekends}`;
  return ` ${words.value.onDays(
    joined(
      days.map((day) => dayName(String(day))),
      currentLocale.value,
    ),
  )}`;
}

/** The short name of a day such as `mon`. */
export function dayName(day: string): string {
  const at = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"].indexOf(day);
  // 5 January 1970 was a Monday.
  const date = new Date((4 + at) * 86_400_000);
  return new Intl.DateTimeFormat(currentLocale.value, { weekday: "short", timeZone: "UTC" }).format(
    date,
  );
}

function withOffset(text: string, offsetMs: unknown): string {
  if (typeof offsetMs !== "number" || offsetMs === 0) return text;
  const span = spanText(Math.abs(offsetMs));
  return offsetMs < 0 ? words.value.before(span, text) : words.value.after(span, text);
}

const sun: Write = (part) => {
  const rises = part["event"] === "sunrise";
  const icon = rises ? "mdi:weather-sunset-up" : "mdi:weather-sunset-down";
  const text = rises ? words.value.sunrise : words.value.sunset;
  return phrase(icon, "heat", withOffset(text, part["offsetMs"]));
};

const calendar =
  (isTrigger: boolean): Write =>
  (part, home) => {
    const id = String(part["calendar"]);
    const name = id === "*" ? words.value.anyCalendar : (home.calendars().get(id) ?? id);
    const match = typeof part["match"] === "string" ? part["match"] : undefined;
    const event =
      match === undefined ? words.value.eventIn(name) : words.value.eventNamed(match, name);
    const text = isTrigger
      ? withOffset(happening(part["edge"])(event), part["offsetMs"])
      : words.value.during(event);
    return phrase("mdi:calendar-outline", "info", text);
  };

/** The words for the start, end or reminders of an event. */
function happening(edge: unknown): (event: string) => string {
  const { begins, ends, reminds } = words.value;
  return edge === "end" ? ends : edge === "reminder" ? reminds : begins;
}

const presence =
  (becomes: boolean): Write =>
  ({ anyone, person }, home) => {
    const texts = words.value;
    const isHome = anyone === true;
    if (typeof person === "string") {
      const write = becomes
        ? texts[isHome ? "personComes" : "personLeaves"]
        : texts[isHome ? "personHome" : "personAway"];
      return phrase("mdi:home-account", "ok", write(home.device(person)?.name ?? person));
    }
    const text = becomes
      ? texts[isHome ? "someoneComes" : "everyoneLeaves"]
      : texts[isHome ? "someoneHome" : "nobodyHome"];
    return phrase("mdi:home-account", "ok", text);
  };

const group =
  (join: "and" | "or" | "nor"): Write =>
  (part, home) => {
    const inner = partsIn(part["of"]).map((each) => phraseOf("conditions", each, home).text);
    const text = inner.length === 0 ? words.value.emptyGroup : inner.join(` ${words.value[join]} `);
    return phrase("mdi:code-parentheses", "info", join === "nor" ? words.value.noneOf(text) : text);
  };

const WRITERS: Readonly<Record<SectionName, Readonly<Record<string, Write>>>> = {
  triggers: {
    state: state(true),
    event: (part, home) =>
      deviceOf(part, home, (_device, name) => words.value.eventOf(name, String(part["event"]))),
    time: ({ at, days }) =>
      phrase("mdi:clock-outline", "info", words.value.atTime(String(at)) + daysText(days)),
    cron: ({ expression }) =>
      phrase("mdi:calendar-clock", "info", words.value.onSchedule(String(expression))),
    sun,
    calendar: calendar(true),
    mqtt: ({ topic, payload }) => {
      const texts = words.value;
      const text =
        typeof payload === "string"
          ? texts.mqttPayload(String(topic), payload)
          : texts.mqtt(String(topic));
      return phrase("mdi:message-arrow-right-outline", "info", text);
    },
    presence: presence(true),
    webhook: ({ name }) => ({
      ...phrase("mdi:webhook", "info", words.value.webhook(String(name) || "…")),
      isOpen: name === "",
    }),
    start: () => phrase("mdi:power", "info", words.value.mantelStarts),
  },
  conditions: {
    state: state(false),
    time: ({ after, before, days }) => {
      const texts = words.value;
      const has = [typeof after === "string", typeof before === "string"] as const;
      const span =
        has[0] && has[1]
          ? texts.fromTo(String(after), String(before))
          : has[0]
            ? texts.afterTime(String(after))
            : has[1]
              ? texts.beforeTime(String(before))
              : texts.anyTime;
      return phrase("mdi:clock-outline", "info", span + daysText(days));
    },
    sun: ({ is }) =>
      is === "up"
        ? phrase("mdi:white-balance-sunny", "light", words.value.isLight)
        : phrase("mdi:moon-waning-crescent", "info", words.value.isDark),
    presence: presence(false),
    calendar: calendar(false),
    all: group("and"),
    any: group("or"),
    none: group("nor"),
  },
  actions: {
    command: (part, home) =>
      deviceOf(part, home, (device, name) =>
        commandText(device, name, part["command"] as CommandBody, home),
      ),
    scene: (part, home) => {
      const id = String(part["scene"]);
      if (id === "")
        return {
          ...phrase("mdi:help-circle-outline", "warn", words.value.chooseScene),
          isOpen: true,
        };
      return phrase(
        "mdi:movie-open-outline",
        "info",
        words.value.startScene(home.scenes().get(id) ?? id),
      );
    },
    wait: ({ ms, maxMs }) => {
      const texts = words.value;
      const [least, most] = [Number(ms), Number(maxMs ?? ms)];
      const text =
        most > least
          ? texts.waitBetween(spanText(least), spanText(most))
          : texts.wait(spanText(least));
      return phrase("mdi:timer-sand", "warn", text);
    },
    ramp: (part, home) =>
      deviceOf(part, home, (device, name) => {
        const key = String(part["field"]);
        const field = fieldOf(device, key);
        const to = settingText(field, key, part["to"], home);
        return words.value.ramp(name, to, spanText(Number(part["ms"])));
      }),
    waitFor: (part, home) => {
      const trigger = partIn(part["trigger"]);
      const text = trigger ? phraseOf("triggers", trigger, home).text : "";
      const most = spanText(Number(part["timeoutMs"]));
      return phrase("mdi:timer-sand", "warn", words.value.waitFor(text, most));
    },
    notify: ({ message, to }) => {
      const names = Array.isArray(to) ? to.map(String) : typeof to === "string" ? [to] : [];
      const text =
        names.length === 0
          ? words.value.notifyAll
          : words.value.notify(joined(names, currentLocale.value));
      return { ...phrase("mdi:bell", "media", text), isOpen: message === "" };
    },
    if: (part, home) => {
      const inner = partsIn(part["conditions"]).map(
        (each) => phraseOf("conditions", each, home).text,
      );
      return phrase("mdi:call-split", "ok", words.value.ifSo(inner.join(` ${words.value.and} `)));
    },
  },
};

/** A command in words, such as "turn on Hall lamp at 80 %". */
function commandText(
  device: Device | undefined,
  name: string,
  command: CommandBody,
  home: HomeView,
): string {
  const texts = words.value;
  const flat = flatCommand(command);
  if (flat.length === 0) return texts.chooseCommand(name);
  const switches = flat.find(([key]) => key === "on");
  const others = flat.filter((each) => each !== switches);
  const told = others.map(([key, value]) => settingText(fieldOf(device, key), key, value, home));
  if (switches?.[1] === false) return [texts.turnOff(name), ...told].join(", ");
  if (switches)
    return told.length === 0 ? texts.turnOn(name) : texts.turnOnAt(name, told.join(", "));
  const [only] = flat;
  if (flat.length === 1 && only) {
    const own = OWN_WORDS[only[0]];
    if (own) return own(only[1] === true, name);
    const field = fieldOf(device, only[0]);
    if (field?.capability.type === "command") return texts.tell(name, field.label);
  }
  return texts.set(name, told.join(", "));
}

const OWN_WORDS: Readonly<Record<string, (value: boolean, name: string) => string>> = {
  locked: (value, name) => (value ? words.value.lock(name) : words.value.unlock(name)),
  open: (_, name) => words.value.open(name),
  close: (_, name) => words.value.close(name),
  stop: (_, name) => words.value.stop(name),
};

function settingText(
  field: DeviceField | undefined,
  key: string,
  value: unknown,
  home: HomeView,
): string {
  if (field?.capability.type === "command") return field.label;
  const text = valueWords(field, value, home);
  const isPlain =
    field?.name === "brightness" ||
    field?.name === "position" ||
    field?.name === "targetTemperature";
  return isPlain ? text : `${field?.label ?? key} ${text}`;
}

/** The fields of a command by their names in documents. */
export function flatCommand(command: CommandBody): readonly (readonly [string, unknown])[] {
  return Object.entries(command).flatMap(([key, value]): (readonly [string, unknown])[] => {
    if (!isRecord(value)) return [[key, value]];
    const below = (prefix: string, fields: object): (readonly [string, unknown])[] =>
      Object.entries(fields).map(([name, each]) => [`${prefix}/${name}`, each as unknown]);
    if (key === "extra") return below(key, value);
    if (key !== "parts") return [[key, value]];
    return Object.entries(value).flatMap(([part, fields]) =>
      isRecord(fields) ? below(`parts/${part}`, fields) : [],
    );
  });
}

/** The command with these fields, by their names in documents. */
export function commandFrom(
  fields: readonly (readonly [string, unknown])[],
): Readonly<Record<string, unknown>> {
  const command: Record<string, unknown> = {};
  const parts: Record<string, Record<string, unknown>> = {};
  const extra: Record<string, unknown> = {};
  for (const [key, value] of fields) {
    const [first = "", id = "", name = ""] = key.split("/");
    if (first === "parts") parts[id] = { ...parts[id], [name]: value };
    else if (first === "extra") extra[id] = value;
    else command[key] = value;
  }
  if (Object.keys(parts).length > 0) command["parts"] = parts;
  if (Object.keys(extra).length > 0) command["extra"] = extra;
  return command;
}
