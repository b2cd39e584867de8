import { hasFeature, when } from "./attributes.ts";
import { type Domain, extras, isKnown, SWITCH, YES_NO } from "./domain.ts";

const ON_OFF = 1;

/** `camera`, without its pictures. Its state does not tell if it is on. */
export const camera: Domain = {
  describe(entity) {
    const { attributes, state } = entity;
    const isRunning = state === "streaming" || state === "recording";
    return {
      kind: "camera",
      capabilities: {
        ...when(hasFeature(attributes, ON_OFF), { on: SWITCH }),
        streaming: YES_NO,
        recording: YES_NO,
      },
      extra: extras({ motionDetection: YES_NO }, "configuration"),
      state: {
        on: isRunning ? true : null,
        streaming: isKnown(entity) ? state === "streaming" : null,
        recording: isKnown(entity) ? state === "recording" : null,
        motionDetection: attributes["motion_detection"] === true,
      },
    };
  },
  calls: ({ on }) => [{ service: `camera.turn_${on === true ? "on" : "off"}` }],
  confirms: () => "answered",
};
