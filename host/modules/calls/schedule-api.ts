import type { Handlers } from "@mantel/plugin-sdk/rpc";
import type { RunRequest, ScheduleHostApi } from "@mantel/plugin-sdk/schedule-protocol";
import { CancelRequest, Resumption, SetRequest } from "@mantel/plugin-sdk/schedule-spec";
import type { Scheduler, ScheduleRunner } from "../../schedule/scheduler.ts";
import { check } from "../../validate.ts";
import type { ModuleLog } from "../state/logs.ts";

/** A process that calls `ctx.schedule`. */
export interface ScheduleCaller {
  readonly id: string;
  readonly log: ModuleLog;
  /** Runs a handler in the live process. */
  readonly runSchedule: (request: RunRequest) => Promise<void>;
  readonly exited: Promise<unknown>;
  /** @throws MantelError `module_down` unless this is the working generation */
  readonly requireLive: () => void;
}

/** The calls of `ctx.schedule`. */
export function scheduleApi(
  { id, log, runSchedule, exited, requireLive }: ScheduleCaller,
  scheduler: Scheduler,
): Handlers<ScheduleHostApi> {
  // One for the whole life of the process, which may start its code again after a rollback.
  const runner: ScheduleRunner = {
    run: runSchedule,
    dropped: (name) => {
      const sentence = `removed a schedule without a handler; call ctx.schedule.on("${name}", …) in start to keep it`;
      log.record({ level: "warn", sentence, fields: { name } });
    },
  };
  void exited.then(() => scheduler.pause(id, runner));
  return {
    async setSchedule(request) {
      requireLive();
      await scheduler.set(id, check(SetRequest, request, "a schedule"));
    },
    async cancelSchedule(request) {
      requireLive();
      return scheduler.cancel(id, check(CancelRequest, request, "the name of a schedule").name);
    },
    resumeSchedules(request) {
      requireLive();
      const { names } = check(Resumption, request, "the handlers of schedules");
      scheduler.resume(id, new Set(names), runner);
    },
  };
}
