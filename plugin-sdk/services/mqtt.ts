import { type Static, Type } from "typebox";
import { Strict } from "../schema.ts";
import { defineService } from "../service.ts";

/** A message to publish. */
export const MqttPublish = Type.Object(
  {
    topic: Type.String(),
    /** UTF-8 text. */
    payload: Type.String(),
    qos: Type.Enum([0, 1, 2]),
    retain: Type.Boolean(),
  },
  Strict,
);
export type MqttPublish = Static<typeof MqttPublish>;

/** The address and credentials of an MQTT broker. */
export const MqttBroker = Type.Object(
  {
    /** `mqtt://`, `mqtts://`, `ws://` or `wss://`. */
    url: Type.String(),
    username: Type.Optional(Type.String()),
    password: Type.Optional(Type.String()),
    /** PEM certificates to trust instead of the system's. */
    ca: Type.Optional(Type.String()),
  },
  Strict,
);
export type MqttBroker = Readonly<Static<typeof MqttBroker>>;

const Nothing = Type.Object({}, Strict);

/** Publishes a message. Resolves when the broker has acknowledged it. Throws `broker_down` or `broker_refused`. */
export const mqttPublish = defineService("mqtt.publish", {
  title: "Publish an MQTT message",
  input: MqttPublish,
});

/**
 * Returns the home's broker with its credentials: the broker of `mqtt.url`, or the embedded one. To connect to it,
 * a plugin also needs `service:mqtt.broker` under `permissions.hosts`.
 */
export const mqttBroker = defineService("mqtt.broker", {
  title: "The home's MQTT broker",
  input: Nothing,
  output: MqttBroker,
  repeatable: true,
});

/** Returns the embedded broker's address, such as `mqtt://127.0.0.1:1883`, and the password for plugins. */
export const brokerAddress = defineService("broker.address", {
  title: "The embedded MQTT broker",
  input: Nothing,
  output: MqttBroker,
  repeatable: true,
});
