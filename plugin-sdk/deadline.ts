import { MantelError } from "./errors.ts";

/**
 * Settles as `work` does, or rejects after `deadlineMs` milliseconds.
 * The work itself is not stopped: give it a signal of its own where it can be.
 *
 * @throws MantelError `deadline_passed`, naming `what`
 */
export async function withDeadline<T>(
  work: Promise<T>,
  deadlineMs: number,
  what: string,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () =>
        reject(new MantelError("deadline_passed", `${what} did not end within ${deadlineMs} ms`)),
      deadlineMs,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
