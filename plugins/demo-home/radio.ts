import { mqttPublish, type PluginContext, withDeadline } from "@mantel/plugin-sdk";

const TOPIC = "mantel/demo-home";
/** Commands work without a broker too, so the wait for one is short. */
const DEADLINE_MS = 300;

/** Publishes the commands to the broker, like a bridge to real devices. */
export interface RadioPublisher {
  /** Resolves when the broker has received the message, or is known to be missing. */
  send(path: string, message: object): Promise<void>;
}

/** A radio over the MQTT connection. Without a broker, messages are dropped with a log line. */
export function openRadio({
  call,
  log,
}: Pick<PluginContext<unknown, unknown>, "call" | "log">): RadioPublisher {
  return {
    async send(path, message) {
      const topic = `${TOPIC}/${path}/set`;
      const payload = JSON.stringify(message);
      try {
        const sent = call(mqttPublish, { topic, payload, qos: 1, retain: false });
        await withDeadline(sent, DEADLINE_MS, "publishing");
      } catch (error) {
        log.debug("no broker received a message", { topic, error });
      }
    },
  };
}
