// The part of the SDK for files that the server side and the widget share. It needs no types of Node.
export { Type } from "typebox";
export type { Static } from "typebox";
export { defineChannels } from "./channel.ts";
export { defineService } from "./service.ts";
