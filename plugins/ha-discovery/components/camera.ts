import type { CreateHandler } from "../component-handler.ts";
import { DiscoveryError } from "../discovery-error.ts";

/** `camera` and `image`: pictures that come as messages, as bytes or base64. Pictures by address are not fetched. */
const pictureFrom =
  (topicName: string): CreateHandler =>
  (options) => {
    const topic = options.topic(topicName);
    if (topic === undefined) throw new DiscoveryError(`${topicName} is missing`);
    const isBase64 = options.text("image_encoding", "") === "b64";
    return { leads: "camera", capabilities: {}, inputs: [], picture: { topic, isBase64 } };
  };

export const camera = pictureFrom("topic");
export const image = pictureFrom("image_topic");
