export { brokerOf, brokerOptions } from "./broker.ts";
export { Health } from "./health.ts";
export type { Ignored } from "./health.ts";
export { HandoverBuffer, Marks } from "./handover-buffer.ts";
export type { BufferedMessage, Mark } from "./handover-buffer.ts";
export { PreconnectedClient } from "./preconnected-client.ts";
export type { LinkOwner } from "./preconnected-client.ts";
export { MqttLink } from "./link.ts";
export type { MqttLinkDependencies, OnMessage, SubscribeOptions } from "./link.ts";
