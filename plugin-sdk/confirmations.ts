import { MantelError } from "./errors.ts";

/** A command, and the way its device confirms it. */
export interface ConfirmedCommand<Report> {
  /** Sends the command. Reports count from now on, also those that arrive before this resolves. */
  readonly send: () => Promise<unknown>;
  /** Receives each report of the device. Returns true when everything that was requested is confirmed. */
  readonly isConfirmed: (report: Report) => boolean;
  /** Milliseconds. Choose less than the host's deadline (`confirmMs` in the manifest), so that the caller gets this error. */
  readonly deadlineMs: number;
  /**
   * Returns the message of the error at the deadline. Leave it out for a device that never reports the value: the
   * command then succeeds at the deadline unless it has failed before.
   */
  readonly overdue?: () => string;
}

interface Waiting<Report> {
  readonly see: (report: Report) => void;
  readonly fail: (error: Error) => void;
}

/**
 * Commands that wait until their device reports the requested state. A bridge passes on what its devices report;
 * `Report` can be any type, such as a payload or a state.
 */
export class Confirmations<Report> {
  readonly #waiting = new Map<string, Set<Waiting<Report>>>();

  /**
   * Sends a command and resolves when its device has confirmed it.
   * @param nativeId the device, or any other key that `report` and `fail` get
   * @throws MantelError `deadline_passed`; the error of `send`, or the one passed to `fail`
   */
  async confirm(nativeId: string, command: ConfirmedCommand<Report>): Promise<void> {
    const { send, isConfirmed, deadlineMs, overdue } = command;
    let end: () => void = () => undefined;
    const confirmed = new Promise<void>((resolve, reject) => {
      const see = (report: Report) => void (isConfirmed(report) && resolve());
      const timer = setTimeout(() => {
        if (overdue) reject(new MantelError("deadline_passed", overdue()));
        else resolve();
      }, deadlineMs);
      const remove = this.#add(nativeId, { see, fail: reject });
      end = () => {
        clearTimeout(timer);
        remove();
      };
      send().catch(reject);
    });
    await confirmed.finally(end);
  }

  /** Passes a report of a device to the commands that wait for it. */
  report(nativeId: string, report: Report): void {
    for (const { see } of this.#waiting.get(nativeId) ?? []) see(report);
  }

  /** Rejects the commands that wait for a device, for example because the device refused one. */
  fail(nativeId: string, error: Error): void {
    for (const { fail } of this.#waiting.get(nativeId) ?? []) fail(error);
  }

  /** Rejects all waiting commands, for example because the connection was lost. */
  failAll(error: Error): void {
    for (const nativeId of this.#waiting.keys()) this.fail(nativeId, error);
  }

  #add(nativeId: string, waiting: Waiting<Report>): () => void {
    const ofDevice = this.#waiting.get(nativeId) ?? new Set();
    this.#waiting.set(nativeId, ofDevice.add(waiting));
    return () => {
      ofDevice.delete(waiting);
      if (ofDevice.size === 0) this.#waiting.delete(nativeId);
    };
  }
}
