import type { CommandBody, StateValue } from "@mantel/plugin-sdk";
import type { RampRequest, StepResult } from "./automation.ts";
import { commandOf } from "./undo.ts";

/** Steps of a whole ramp; a device is not commanded more often than once a second. */
const MOST_STEPS = 100;
const SHORTEST_STEP_MS = 1_000;

/** A ramp that is under way, as plain data. A restart continues it where it was. */
export interface RampState {
  readonly from: number;
  readonly leftMs: number;
}

interface Dependencies {
  readonly read: (device: string, field: string) => StateValue | undefined;
  readonly command: (body: CommandBody) => Promise<StepResult>;
  readonly wait: (ms: number) => Promise<unknown>;
  readonly keep: (state: RampState) => void;
}

/** Changes a number of a device step by step. It ends early if the device is switched off meanwhile. */
export async function performRamp(
  request: RampRequest,
  { read, command, wait, keep }: Dependencies,
  state: RampState = { from: startOf(request, read), leftMs: request.ms },
): Promise<StepResult> {
  const { device, field, to, ms } = request;
  const { from } = state;
  const count = Math.min(MOST_STEPS, Math.max(1, Math.ceil(Math.abs(to - from))));
  const stepMs = Math.max(SHORTEST_STEP_MS, ms / count);
  let hasCommanded = state.leftMs < ms;
  for (let leftMs = state.leftMs; ; leftMs -= stepMs) {
    if (hasCommanded && read(device, beside(field, "on")) === false) {
      return { result: "ok", value: read(device, field) };
    }
    keep({ from, leftMs });
    const isLast = leftMs <= stepMs;
    const value = isLast ? to : rounded(from + ((to - from) * (ms - leftMs + stepMs)) / ms, to);
    const result = await command(commandOf(field, value));
    hasCommanded ||= result.result === "ok";
    if (isLast) return { ...result, value };
    await wait(stepMs);
  }
}

/** The present value; for a lamp that is off 0, because its brightness is that of the next time. */
function startOf({ device, field, to }: RampRequest, read: Dependencies["read"]): number {
  const value = read(device, field);
  if (read(device, beside(field, "on")) === false) return 0;
  return typeof value === "number" ? value : to;
}

/** The name of a field in the same section. */
function beside(field: string, name: string): string {
  return field.slice(0, field.lastIndexOf("/") + 1) + name;
}

/** A value with as many decimals as the end of the ramp, so that whole numbers stay whole. */
function rounded(value: number, like: number): number {
  const decimals = String(like).split(".")[1]?.length ?? 0;
  return Number(value.toFixed(decimals));
}
