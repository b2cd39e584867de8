import type { PluginContext } from "./context.ts";
import type { DeviceUpdate } from "./device.ts";
import type { Plugin } from "./plugin.ts";

/** The lines of a plugin that updated devices: an update is checked later, when they are no longer on the stack. */
export class UpdateOrigins {
  readonly #stacks = new WeakMap<DeviceUpdate, string>();

  /** The same plugin, whose updates are noted. */
  of(plugin: Plugin): Plugin {
    return { ...plugin, start: (ctx, connected) => plugin.start(this.#noting(ctx), connected) };
  }

  /** Gives the error of a refused update the stack of the plugin's call. */
  explain(error: unknown, update: DeviceUpdate): void {
    const stack = this.#stacks.get(update);
    if (error instanceof Error && stack !== undefined) error.stack = `${String(error)}\n${stack}`;
  }

  #noting(ctx: PluginContext<unknown, unknown>): PluginContext<unknown, unknown> {
    const update = (...updates: DeviceUpdate[]): void => {
      const { stack = "" } = new Error();
      const frames = stack.slice(stack.indexOf("\n", stack.indexOf("\n") + 1) + 1); // without this function
      for (const each of updates) this.#stacks.set(each, frames);
      ctx.devices.update(...updates);
    };
    const devices = { value: Object.freeze({ ...ctx.devices, update }), enumerable: true };
    const noting = Object.defineProperties(
      {},
      { ...Object.getOwnPropertyDescriptors(ctx), devices },
    );
    return Object.freeze(noting) as PluginContext<unknown, unknown>;
  }
}
