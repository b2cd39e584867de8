/** One run of a schedule. */
export interface ScheduledRun {
  readonly name: string;
  /** The time for which the run was planned. */
  readonly dueAt: Date;
  /** True if the run is more than a minute late, because the host or the plugin did not run. */
  readonly isMissed: boolean;
}

export type ScheduleHandler = (run: ScheduledRun) => void | Promise<void>;

export interface ScheduleOptions {
  /**
   * The treatment of a run that is more than a minute late: `once` runs it as soon as possible, however many were
   * missed, `skip` leaves it out. Absent means `once` for `at` and `after`, and `skip` for `every` and `cron`.
   */
  readonly missed?: "skip" | "once";
}

/**
 * Timers that survive reloads and restarts. The host keeps them. A name means one timer: setting it again replaces it.
 * While the plugin starts, setting a kept timer with the same values connects it with the new code and leaves its
 * time. Names have at most 100 letters, digits, spaces, `.`, `_`, `:` and `-`; a plugin has at most 1,000 timers.
 */
export interface Schedule {
  /**
   * Runs once at a date. Resolves when the timer is stored.
   * @throws MantelError `invalid` for a wrong name or value, `rate_limited` for too many timers, `disk_full`
   */
  at(name: string, date: Date, handler: ScheduleHandler, options?: ScheduleOptions): Promise<void>;
  /** Runs at an interval, at least 1,000 ms. @throws MantelError as `at` */
  every(
    name: string,
    ms: number,
    handler: ScheduleHandler,
    options?: ScheduleOptions,
  ): Promise<void>;
  /**
   * Runs at the times of a cron expression with five fields, or six with seconds, in the time zone of the home:
   * `0 7 * * MON-FRI`. A time that a change to daylight saving time skips runs right after the change, and one that
   * occurs twice runs once. @throws MantelError as `at`, and for an expression that never occurs
   */
  cron(
    name: string,
    expression: string,
    handler: ScheduleHandler,
    options?: ScheduleOptions,
  ): Promise<void>;
  /** Runs once after a time in ms. After the start, setting it again begins the time again. @throws MantelError as `at` */
  after(
    name: string,
    ms: number,
    handler: ScheduleHandler,
    options?: ScheduleOptions,
  ): Promise<void>;
  /**
   * Handles a timer that a previous generation may have set while it ran; `off *` handles all whose names begin with
   * `off `. Call it in `start`: a kept timer without a handler after the start is removed, with a log line.
   */
  on(name: string, handler: ScheduleHandler): void;
  /** Removes a timer. True if there was one. */
  cancel(name: string): Promise<boolean>;
}
