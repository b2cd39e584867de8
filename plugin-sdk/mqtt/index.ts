export { brokerOf, brokerOptions } from "./broker.ts";
export { MqttLink } from "./link.ts";
export type { MqttLinkParts, OnMessage, SubscribeOptions } from "./link.ts";
