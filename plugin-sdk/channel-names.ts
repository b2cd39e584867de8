/** The pattern of channel names: lower-case words joined by hyphens, or camel case. */
export const CHANNEL_NAME = "^[a-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*$";
export const LONGEST_CHANNEL_NAME = 60;

/** The live data that the host itself has for widgets; a plugin's channel cannot have such a name. */
export const HOST_CHANNELS = ["calendar", "scenes", "modules"] as const;

/** Channels that belonged to the host in earlier versions, and their names now. */
const FORMER_CHANNELS: Readonly<Record<string, string>> = {
  system: "system/sample",
  weather: "weather/forecast",
};

/** The name that replaced a former one of the host; `undefined` for every other name. */
export function renamedChannel(name: string): string | undefined {
  return Object.hasOwn(FORMER_CHANNELS, name) ? FORMER_CHANNELS[name] : undefined;
}

/**
 * The full name of a channel as a widget of `module` reads it: one of the host's own, or `plugin/name`.
 * @throws Error for a former name, with the name that replaced it
 */
export function fullChannelName(name: string, module: string): string {
  const renamed = renamedChannel(name);
  if (renamed !== undefined) throw new Error(`the channel "${name}" is now "${renamed}"`);
  const isFull = name.includes("/") || HOST_CHANNELS.some((own) => own === name);
  return isFull ? name : `${module}/${name}`;
}

/** The reason why a plugin's channel cannot have this name, as the rest of a sentence. */
export function channelNameFault(name: string): string | undefined {
  if (name.length > LONGEST_CHANNEL_NAME || !new RegExp(CHANNEL_NAME).test(name)) {
    const form = "lower-case words joined by hyphens, or camel case, such as headlines";
    return `must be named with ${form}; at most ${LONGEST_CHANNEL_NAME} characters`;
  }
  if (HOST_CHANNELS.some((own) => own === name) || renamedChannel(name) !== undefined)
    return "has the name of one of the host's own channels; choose another one";
  return undefined;
}
