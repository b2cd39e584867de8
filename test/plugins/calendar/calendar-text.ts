/** The bytes of a calendar with the given lines between its first and last. */
export function calendar(...lines: string[]): Buffer {
  return Buffer.from(
    ["BEGIN:VCALENDAR", "VERSION:2.0", ...lines, "END:VCALENDAR", ""].join("\r\n"),
  );
}

/** The lines of one event. */
export function event(...lines: string[]): string {
  return ["BEGIN:VEVENT", ...lines, "END:VEVENT"].join("\r\n");
}
