export { brokerOf, brokerOptions } from "./broker.ts";
export { MqttClient } from "./client.ts";
export type { MqttClientOptions, OnMessage, SubscribeOptions } from "./client.ts";
export { HandoverBuffer, Marks } from "./handover-buffer.ts";
export type { BufferedMessage, Mark } from "./handover-buffer.ts";
export { PreconnectedClient } from "./preconnected-client.ts";
export type { ConnectionListener } from "./preconnected-client.ts";
