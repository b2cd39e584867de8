import { Cron } from "croner";
import { MantelError } from "../errors.ts";

const CRON = /^(@[a-z]+|\S+( \S+){4,5})$/;

/**
 * The first time of a cron expression after an instant; `undefined` without one. A time that a change to daylight
 * saving time skips is right after the change, and one that occurs twice counts once.
 * @throws MantelError `invalid` for an expression that cannot be read
 */
export function nextCronTime(
  expression: string,
  after: number,
  timeZone: string,
): number | undefined {
  if (!CRON.test(expression)) {
    const form = "five fields, or six with seconds, such as 0 7 * * MON-FRI";
    throw new MantelError("invalid", `the cron expression ${expression} must have ${form}`);
  }
  try {
    const cron = new Cron(expression, { timezone: timeZone, paused: true });
    return cron.nextRun(new Date(after))?.getTime();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new MantelError("invalid", `invalid cron expression ${expression}: ${reason}`, { cause });
  }
}
