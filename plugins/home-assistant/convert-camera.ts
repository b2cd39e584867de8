import { hasFeature } from "./attributes.ts";
import { callsFor, commands, type Domain, extras, isKnown, YES_NO } from "./domain.ts";

const ON_OFF = 1;

/** `camera`, without its pictures. Its state does not tell if it is on. */
export const camera: Domain = {
  describe(entity) {
    const { attributes, state } = entity;
    const canSwitch = hasFeature(attributes, ON_OFF);
    return {
      kind: "camera",
      capabilities: {
        streaming: YES_NO,
        recording: YES_NO,
      },
      extra: {
        ...extras(commands({ turnOn: canSwitch, turnOff: canSwitch })),
        ...extras({ motionDetection: YES_NO }, "configuration"),
      },
      state: {
        streaming: isKnown(entity) ? state === "streaming" : null,
        recording: isKnown(entity) ? state === "recording" : null,
        motionDetection: attributes["motion_detection"] === true,
      },
    };
  },
  calls: (command) =>
    callsFor(command, {
      turnOn: () => ({ service: "camera.turn_on" }),
      turnOff: () => ({ service: "camera.turn_off" }),
    }),
};
