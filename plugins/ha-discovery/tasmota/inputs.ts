import type { CreateHandler, EventInput } from "../component-handler.ts";
import { SHOWN, YES_NO } from "../components/capabilities.ts";
import { isDict, type Value } from "../template/values.ts";
import type { TasmotaDevice } from "./device.ts";
import { answerTopics, pollsOf, reportIn, reports, sensorTopics } from "./reports.ts";

/** Modes in which a switch tells how it stands; in the others it tells what was done with it. */
const FOLLOWING = new Set([1, 2, 9, 10, 13, 14, 15, 16]);

/** True if a switch of this mode has a state. */
export const isFollowing = (mode: number): boolean => FOLLOWING.has(mode);

const LONGEST_ACTION = 60;

/** The action in a report, such as `{"Button1": {"Action": "SINGLE"}}`. */
function actionIn(value: Value): string | undefined {
  const action = isDict(value) ? value.get("Action") : undefined;
  return typeof action === "string" && action !== "" ? action.slice(0, LONGEST_ACTION) : undefined;
}

/** A contact that is on or off: a wall switch that is not coupled to the relays, or a detector. */
export const contact =
  (device: TasmotaDevice, index: number): CreateHandler =>
  (options) => {
    const name = `Switch${index + 1}`;
    return {
      capabilities: { value: YES_NO },
      inputs: reports([...sensorTopics(device), ...answerTopics(device, name)], (told) => {
        const state = actionIn(told.get(name)) ?? told.get(name);
        if (state === device.on) return { value: true };
        return state === device.off ? { value: false } : {};
      }),
      polls: pollsOf(device, options),
    };
  };

/** A button, or a switch that is pressed: an event for each action. */
export const presses =
  (device: TasmotaDevice, name: string): CreateHandler =>
  () => ({
    capabilities: { lastAction: SHOWN },
    inputs: [],
    events: answerTopics(device, name).map((topic): EventInput => ({
      topic,
      read: (payload) => {
        const action = payload.retained ? undefined : actionIn(reportIn(payload)?.get(name));
        return action && `${name.toLowerCase()} ${action.toLowerCase()}`;
      },
    })),
  });
