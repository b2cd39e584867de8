// The SDK as widgets import it under its main name, from files that they share with the server side. The host checks
// values by the schemas of the server side, so here they are empty, which keeps bundles of widgets small.
import type { ServiceDefinition } from "./service.ts";

const EMPTY = (): object => ({});

/** Makes no schemas: every function returns an empty object. */
export const Type: unknown = new Proxy({}, { get: () => EMPTY });

/** The name and version of a service. */
export function defineService(
  name: string,
  { version = 1 }: Partial<ServiceDefinition>,
): Pick<ServiceDefinition, "name" | "version"> {
  return { name, version };
}

/** The channels of the widget's plugin, unchanged. */
export function defineChannels<C>(channels: C): C {
  return channels;
}
