import type { Device, DeviceCommand } from "@mantel/plugin-sdk/device";

/** How a command ended. */
export interface CommandOutcome {
  readonly commandId: string;
  readonly deviceId: string;
  /** `superseded` when later commands have set all that this one asked for. */
  readonly status: "applied" | "superseded";
  /** What was sent to the bridge, commands that were merged in included. */
  readonly applied: DeviceCommand;
  /** The device after it. */
  readonly device: Device;
}

interface Caller {
  readonly commandId: string;
  readonly resolve: (outcome: CommandOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/** Commands to one device that are sent as one: of each key the latest value. */
export class Batch {
  #command: DeviceCommand = {};
  #last: Caller | undefined;
  readonly #callers: Caller[] = [];
  /** Whose value of each key is the latest. */
  readonly #latest = new Map<string, Caller>();

  get command(): DeviceCommand {
    return this.#command;
  }

  /** The id of the last command that came in, which names the whole. */
  get commandId(): string {
    return this.#last?.commandId ?? "";
  }

  get size(): number {
    return this.#callers.length;
  }

  /** Merges a command in; the promise settles when the whole is confirmed or has failed. */
  join(commandId: string, command: DeviceCommand): Promise<CommandOutcome> {
    const done = new Promise<CommandOutcome>((resolve, reject) => {
      const caller = { commandId, resolve, reject };
      this.#last = caller;
      this.#callers.push(caller);
      this.#command = { ...this.#command, ...command };
      for (const key of Object.keys(command)) this.#latest.set(key, caller);
    });
    done.catch(() => undefined); // a caller that wanted no answer does not wait for it
    return done;
  }

  confirm(device: Device): void {
    const applied = new Set(this.#latest.values());
    for (const caller of this.#callers) {
      caller.resolve({
        commandId: caller.commandId,
        deviceId: device.id,
        status: applied.has(caller) ? "applied" : "superseded",
        applied: this.#command,
        device,
      });
    }
  }

  fail(error: unknown): void {
    for (const caller of this.#callers) caller.reject(error);
  }
}
