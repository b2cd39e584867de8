export { brokerOf, brokerOptions } from "./broker.ts";
export { Health } from "./health.ts";
export type { LeftOut } from "./health.ts";
export { Held, Marks } from "./held.ts";
export type { HeldMessage, Mark } from "./held.ts";
export { LinkAhead } from "./link-ahead.ts";
export type { LinkOwner } from "./link-ahead.ts";
export { MqttLink } from "./link.ts";
export type { MqttLinkParts, OnMessage, SubscribeOptions } from "./link.ts";
