import type { Run, StepRequest, StepResult } from "../engine/automation.ts";

/** The steps of the run whose code calls. */
export interface CallingRun extends Pick<Run, "id" | "startedAt" | "trigger"> {
  step(request: StepRequest): Promise<StepResult>;
}

/** Leaves out what is undefined, so that the data is a valid document. */
export function part<T extends object>(fields: T): never {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as never;
}

export const wholeOf = (ms: number): number => {
  if (Number.isFinite(ms) && ms >= 0) return Math.round(ms);
  throw new TypeError(`${ms} is not a time in milliseconds; write minutes(5), for example`);
};
export const isOk = ({ result }: StepResult) => result === "ok";
export const isTrue = ({ value }: StepResult) => value === true;
