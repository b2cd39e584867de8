import { type CreateHandler } from "../component-handler.ts";
import { DiscoveryError } from "../discovery-error.ts";
import { jsonIn } from "../payload.ts";
import { isDict } from "../template/values.ts";
import { SHOWN } from "./capabilities.ts";

const LONGEST_NAME = 100;

/** A trigger of a device, such as a button that is pressed: an event each time its payload comes. */
export const deviceAutomation: CreateHandler = (options) => {
  const topic = options.topic("topic");
  const [type, subtype] = [options.text("type", ""), options.text("subtype", "")];
  if (options.text("automation_type", "") !== "trigger")
    throw new DiscoveryError("automation_type must be trigger");
  if (topic === undefined || type === "" || subtype === "") {
    throw new DiscoveryError("a trigger needs topic, type and subtype");
  }
  const payload = options.text("payload", undefined);
  const read = options.reader("value_template");
  // Zigbee2MQTT calls every type "action"; others use "button_short_press" of "button_1".
  const name = (type === "action" ? subtype : `${subtype} ${type}`).slice(0, LONGEST_NAME);
  return {
    capabilities: { lastAction: SHOWN },
    inputs: [],
    events: [
      {
        topic,
        read: (message) => {
          if (message.retained) return undefined;
          const text = read(message);
          return text !== undefined && (payload === undefined || text === payload)
            ? name
            : undefined;
        },
      },
    ],
  };
};

/** An event entity: JSON with `event_type`, which is one of those announced. */
export const event: CreateHandler = (options) => {
  const topic = options.topic("state_topic");
  const types = new Set(options.texts("event_types"));
  if (topic === undefined) throw new DiscoveryError("an event needs state_topic");
  const read = options.reader("value_template");
  return {
    capabilities: { lastAction: SHOWN },
    inputs: [],
    events: [
      {
        topic,
        read: (message) => {
          const json = message.retained ? undefined : jsonIn(read(message) ?? "");
          const type = isDict(json) ? json.get("event_type") : undefined;
          return typeof type === "string" && types.has(type)
            ? type.slice(0, LONGEST_NAME)
            : undefined;
        },
      },
    ],
  };
};
