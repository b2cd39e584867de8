import type { ChannelValue } from "@mantel/plugin-sdk/widget";
import type { channels } from "@mantel/system/channels.ts";

export type SystemChannels = typeof channels;
export type Sample = ChannelValue<SystemChannels["sample"]>;
