import type { Device, DeviceCommand } from "@mantel/plugin-sdk/device";

/** The result of a command. */
export interface CommandOutcome {
  readonly commandId: string;
  readonly deviceId: string;
  /** `superseded` if later commands have set all fields of this one. */
  readonly status: "applied" | "superseded";
  /** The command sent to the bridge, including merged commands. */
  readonly applied: DeviceCommand;
  /** The device after the command. */
  readonly device: Device;
}

interface Caller {
  readonly commandId: string;
  readonly resolve: (outcome: CommandOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/** Commands to one device that are sent as one, with the latest value of each key. */
export class CommandBatch {
  #command: DeviceCommand = {};
  #last: Caller | undefined;
  readonly #callers: Caller[] = [];
  /** The caller of the latest value of each key. */
  readonly #latest = new Map<string, Caller>();

  get command(): DeviceCommand {
    return this.#command;
  }

  /** The id of the last command, which identifies the batch. */
  get commandId(): string {
    return this.#last?.commandId ?? "";
  }

  get size(): number {
    return this.#callers.length;
  }

  /** Merges a command; the promise settles when the batch is confirmed or has failed. */
  join(commandId: string, command: DeviceCommand): Promise<CommandOutcome> {
    const done = new Promise<CommandOutcome>((resolve, reject) => {
      const caller = { commandId, resolve, reject };
      this.#last = caller;
      this.#callers.push(caller);
      this.#command = { ...this.#command, ...command };
      for (const key of Object.keys(command)) this.#latest.set(key, caller);
    });
    done.catch(() => undefined); // the caller may not wait for it
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
