import { MantelError } from "./errors.ts";

/**
 * Settles like `work`, or rejects after `deadlineMs` milliseconds. The work itself continues: pass it an
 * `AbortSignal` if it must stop.
 *
 * @param what a noun phrase for the error message, such as `finding the broker`
 * @throws MantelError `deadline_passed`
 */
export async function withDeadline<T>(
  work: Promise<T>,
  deadlineMs: number,
  what: string,
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new MantelError("deadline_passed", `${what} timed out after ${deadlineMs} ms`)),
      deadlineMs,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
