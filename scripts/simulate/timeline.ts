/** The answer of `POST /automations/simulate`, as far as it is printed. */
export interface Simulated {
  readonly from: string;
  readonly to: string;
  readonly runs: readonly { readonly result: string; readonly error?: string }[];
  readonly timeline: readonly Entry[];
  readonly recorded: readonly Recorded[];
  readonly truncated: boolean;
}

interface Recorded {
  readonly at: string;
  readonly device: string;
  readonly field: string;
  readonly value: unknown;
}

interface Entry {
  readonly at: string;
  readonly kind: string;
  readonly device?: string;
  readonly field?: string;
  readonly value?: unknown;
  readonly event?: string;
  readonly automation?: string;
  readonly trigger?: { readonly event: { readonly type: string } };
  readonly command?: object;
  readonly scene?: string;
  readonly message?: string;
}

/** An instant of `yesterday`, `today`, a date or a date and time, in the time zone of this machine. @throws Error */
export function instantOf(text: string, now: Date): Date {
  const days = { today: 0, yesterday: 1 }[text];
  if (days !== undefined) {
    return new Date(now.getFullYear(), now.getMonth(), now.getDate() - days);
  }
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const instant = new Date(isDate ? `${text}T00:00` : text);
  if (!Number.isNaN(instant.getTime())) return instant;
  throw new Error(`"${text}" is not yesterday, today, a date such as 2026-11-20, or an instant`);
}

/** The timeline as lines of text, with what really happened beside it. */
export function linesOf(
  { from, to, runs, timeline, recorded, truncated }: Simulated,
  timeZone: string,
): string[] {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    dateStyle: "short",
    timeStyle: "medium",
  });
  const timeOf = (at: string) => format.format(new Date(at)).replace(",", "");
  const real = recorded.map(({ at, device, field, value }) => ({
    at,
    text: `really      ${device} ${field} ${JSON.stringify(value)}`,
  }));
  const simulated = timeline.map((entry) => ({ at: entry.at, text: textOf(entry) }));
  const lines = [...simulated, ...real]
    .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
    .map(({ at, text }) => `${timeOf(at)}  ${text}`);
  const failed = runs.filter(({ result }) => result === "failed");
  return [
    ...lines,
    `${runs.length} runs from ${timeOf(from)} to ${timeOf(to)}, ${failed.length} failed`,
    ...failed.slice(0, 5).map(({ error = "a step failed" }) => `  ${error}`),
    ...(truncated ? ["There was more; choose a shorter span."] : []),
  ];
}

function textOf({ kind, device = "", ...entry }: Entry): string {
  switch (kind) {
    case "state":
      return `change      ${device} ${entry.field} ${JSON.stringify(entry.value)}`;
    case "event":
      return `event       ${device} ${entry.event}`;
    case "run":
      return `run         ${entry.automation}, started by ${entry.trigger?.event.type}`;
    case "command":
      return `command     ${device} ${JSON.stringify(entry.command)}`;
    case "scene":
      return `scene       ${entry.scene}`;
    default:
      return `${kind.padEnd(12)}${entry.message ?? ""}`;
  }
}
