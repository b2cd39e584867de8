import { at, numberAt, type Resource, textAt } from "./resources.ts";

/** The last action of a button or dial. */
export interface Action {
  /** For example `button_2_short_release` or `rotate_clockwise`. */
  readonly name: string;
  /** Time at which the bridge received it (RFC 3339); absent if the bridge does not know it. */
  readonly at: string | undefined;
  readonly data: Readonly<Record<string, number>>;
}

const BUTTONS = new Set(["button", "bell_button", "relative_rotary"]);

export function isButton({ type }: Resource): boolean {
  return BUTTONS.has(type);
}

/** The last action of a service, or `undefined` if there was none. */
export function actionOf(service: Resource | undefined): Action | undefined {
  switch (service?.type) {
    case "button":
      return pressOf(service);
    case "bell_button":
      return ringOf(service);
    case "relative_rotary":
      return turnOf(service);
    default:
      return undefined;
  }
}

/** The last action of a device that has several buttons. */
export function lastActionOf(services: readonly Resource[]): Action | undefined {
  const actions = services.flatMap((service) => actionOf(service) ?? []);
  return actions.toSorted((a, b) => (b.at ?? "").localeCompare(a.at ?? ""))[0];
}

function pressOf(service: Resource): Action | undefined {
  const button = at(service, "button");
  const event = word(at(button, "button_report", "event") ?? at(button, "last_event"));
  if (event === undefined) return undefined;
  const number = numberAt(service, "metadata", "control_id") ?? 1;
  return {
    name: `button_${Math.trunc(number)}_${event}`,
    at: timeOf(at(button, "button_report")),
    data: {},
  };
}

/** A ring of a doorbell. Some bridges report it as `bell`, others in the words of buttons. */
function ringOf(service: Resource): Action | undefined {
  const report = at(service, "bell", "bell_report");
  const event = word(at(report, "event") ?? at(service, "bell", "last_event"));
  return event === undefined ? pressOf(service) : { name: event, at: timeOf(report), data: {} };
}

/** The time of a report. Bridges write "none" for what never happened, and none at all before 2023. */
function timeOf(report: unknown): string | undefined {
  const text = textAt(report, "updated");
  return text === undefined || Number.isNaN(Date.parse(text)) ? undefined : text;
}

function turnOf(service: Resource): Action | undefined {
  const report =
    at(service, "relative_rotary", "rotary_report") ?? at(service, "relative_rotary", "last_event");
  const direction = at(report, "rotation", "direction");
  if (direction !== "clock_wise" && direction !== "counter_clock_wise") return undefined;
  const steps = numberAt(report, "rotation", "steps");
  const durationMs = numberAt(report, "rotation", "duration");
  return {
    name: `rotate_${direction === "clock_wise" ? "clockwise" : "counterclockwise"}`,
    at: timeOf(report),
    data: {
      ...(steps === undefined ? {} : { steps }),
      ...(durationMs === undefined ? {} : { durationMs }),
    },
  };
}

/** An event name such as `long_press`; newer bridges may have more of them. */
function word(value: unknown): string | undefined {
  return typeof value === "string" && /^[a-z_]{1,40}$/.test(value) ? value : undefined;
}
