import { hasFeature } from "./attributes.ts";
import { callsFor, commands, type Domain, extras, isKnown, YES_NO } from "./domain.ts";
import type { Entity } from "./entities.ts";

const ON_OFF = 1;

/** `image`: a picture that something has made, such as the map of a vacuum. */
export const image: Domain = {
  describe: () => ({ kind: "camera", capabilities: {}, state: {}, image: true }),
};

/** The path of an entity's picture in the REST API; `undefined` without one. */
export function picturePath({ id, domain }: Entity): string | undefined {
  const proxy = {
    camera: "camera_proxy",
    image: "image_proxy",
    media_player: "media_player_proxy",
  }[domain];
  return proxy && `${proxy}/${id}`;
}

/** The path of a camera's motion JPEG in the REST API; `undefined` for anything else. */
export function framesPath({ id, domain }: Entity): string | undefined {
  return domain === "camera" ? `camera_proxy_stream/${id}` : undefined;
}

/** `camera`. Its state does not tell if it is on. */
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
      image: true,
      live: ["frames"],
    };
  },
  calls: (command) =>
    callsFor(command, {
      turnOn: () => ({ service: "camera.turn_on" }),
      turnOff: () => ({ service: "camera.turn_off" }),
    }),
};
