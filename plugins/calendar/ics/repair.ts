/** A TZID that is not quoted although it has a colon or comma, as in `(UTC+01:00) Amsterdam, Berlin`. */
const BARE_TZID = /;TZID=([^";]*[:,][^";]*?)(?=;[A-Z-]+=|:\d{4}-?\d\d-?\d\d)/i;
/** Dates and times as RFC 3339 writes them, or without seconds. */
const LOOSE_TIME =
  /(?<=[:,/])(\d{4})-?(\d\d)-?(\d\d)(?:[T ](\d\d):?(\d\d)(?::?(\d\d))?(?:\.\d+)?(Z?))?(?=[,/]|$)/gi;

/** A property with times as RFC 5545 writes it, if it has some damage that is common and has one meaning. */
export function repairTimes(line: string): string {
  return line
    .trimEnd()
    .replace(BARE_TZID, ';TZID="$1"')
    .replace(LOOSE_TIME, (_, ...parts: string[]) => {
      const [year, month, day, hour, minute, second = "00", utc = ""] = parts;
      const date = `${year}${month}${day}`;
      return hour === undefined ? date : `${date}T${hour}${minute}${second}${utc}`;
    });
}

/** A rule without the spaces that some programs write, and with UNTIL as RFC 5545 writes it. */
export function repairRule(rule: string): string {
  return rule
    .replaceAll(/\s/g, "")
    .replace(/(?<=UNTIL=)(\d{4})-(\d\d)-(\d\d)/i, "$1$2$3")
    .replace(/(?<=UNTIL=\d{8}T)(\d\d):(\d\d):(\d\d)/i, "$1$2$3");
}
