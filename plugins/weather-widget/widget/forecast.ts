import type { ChannelValue } from "@mantel/plugin-sdk/widget";
import type { channels } from "@mantel/weather/channels.ts";

export type WeatherChannels = typeof channels;
export type Forecast = ChannelValue<WeatherChannels["forecast"]>;
export type WeatherHour = Forecast["hours"][number];
export type WeatherCondition = WeatherHour["condition"];
