import { type PluginContext, withDeadline } from "@mantel/plugin-sdk";

const TOPIC = "mantel/demo-home";
/** The house obeys whether or not a broker listens, and does not wait long to find out. */
const DEADLINE_MS = 300;

/** Tells the house's broker what the devices are asked, as a bridge to real devices would. */
export interface Radio {
  /** Resolves when the broker has it, or when it is clear that there is none. */
  send(path: string, message: object): Promise<void>;
}

/** A radio over the MQTT link. A message that finds no broker is dropped, with a line in the log. */
export function openRadio({
  call,
  log,
}: Pick<PluginContext<unknown, unknown>, "call" | "log">): Radio {
  return {
    async send(path, message) {
      const topic = `${TOPIC}/${path}/set`;
      const payload = JSON.stringify(message);
      try {
        const sent = call("mqtt.publish", { topic, payload, qos: 1, retain: false });
        await withDeadline(sent, DEADLINE_MS, "publishing");
      } catch (error) {
        log.debug("no broker took a message", { topic, error });
      }
    },
  };
}
