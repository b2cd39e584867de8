import type { Cause } from "@mantel/plugin-sdk/cause";
import type { CommandBody, Device } from "@mantel/plugin-sdk/device";
import {
  bodyOf,
  type BySection,
  mergedCommands,
  type SectionedCommand,
  withReported,
} from "@mantel/plugin-sdk/device-sections";

/** The result of a command. */
export interface CommandOutcome {
  readonly commandId: string;
  readonly deviceId: string;
  /** `superseded` if later commands have set all fields of this one. */
  readonly status: "applied" | "superseded";
  /**
   * The command sent to the bridge, including merged commands, without codes. A number is the one that the device
   * reports.
   */
  readonly applied: CommandBody;
  /** The device after the command. */
  readonly device: Device;
  readonly cause?: Cause;
}

interface Caller {
  readonly commandId: string;
  readonly cause: Cause | undefined;
  readonly resolve: (outcome: CommandOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/** Commands to one device that are sent as one, with the latest value of each key. */
export class CommandBatch {
  #command: SectionedCommand = new Map();
  #last: Caller | undefined;
  readonly #callers: Caller[] = [];
  /** The caller of the latest value of each field, by section and name. */
  readonly #latest = new Map<string, Caller>();

  get command(): SectionedCommand {
    return this.#command;
  }

  /** The id of the last command, which identifies the batch. */
  get commandId(): string {
    return this.#last?.commandId ?? "";
  }

  /** The cause of the last command. */
  get cause(): Cause | undefined {
    return this.#last?.cause;
  }

  /** The causes of the latest values. */
  get causes(): BySection<ReadonlyMap<string, Cause>> {
    const causes = new Map<string, ReadonlyMap<string, Cause>>();
    for (const [key, values] of this.#command) {
      const ofSection = new Map<string, Cause>();
      for (const name of Object.keys(values)) {
        const cause = this.#latest.get(`${key} ${name}`)?.cause;
        if (cause) ofSection.set(name, cause);
      }
      causes.set(key, ofSection);
    }
    return causes;
  }

  get size(): number {
    return this.#callers.length;
  }

  /** Merges a command; the promise settles when the batch is confirmed or has failed. */
  join(
    commandId: string,
    command: SectionedCommand,
    cause: Cause | undefined,
  ): Promise<CommandOutcome> {
    const done = new Promise<CommandOutcome>((resolve, reject) => {
      const caller = { commandId, cause, resolve, reject };
      this.#last = caller;
      this.#callers.push(caller);
      this.#command = mergedCommands(this.#command, command);
      for (const field of fieldsOf(command)) this.#latest.set(field, caller);
    });
    done.catch(() => undefined); // the caller may not wait for it
    return done;
  }

  /** @param before the device when the command was sent */
  confirm(device: Device, before: Device): void {
    const body = bodyOf(withReported(this.#command, before, device));
    const applied = new Set(fieldsOf(this.#command).map((field) => this.#latest.get(field)));
    for (const caller of this.#callers) {
      caller.resolve({
        commandId: caller.commandId,
        deviceId: device.id,
        status: applied.has(caller) ? "applied" : "superseded",
        applied: body,
        device,
        ...(caller.cause && { cause: caller.cause }),
      });
    }
  }

  fail(error: unknown): void {
    for (const caller of this.#callers) caller.reject(error);
  }
}

/** Each field of a command as its section and its name. */
function fieldsOf(command: SectionedCommand): string[] {
  return [...command].flatMap(([key, values]) =>
    Object.keys(values).map((name) => `${key} ${name}`),
  );
}
