import type { ActiveRun, RunDependencies } from "./active-run.ts";
import type { Clock, EngineDevice, EngineHome } from "./automation.ts";
import type { Guard, Offence } from "./guard.ts";
import { valuesBefore } from "./undo.ts";
import type { Undos } from "./undos.ts";

type CommandStep = Parameters<RunDependencies["command"]>[1];

interface Dependencies {
  readonly clock: Clock;
  readonly home: Pick<EngineHome, "command">;
  readonly device: (id: string) => EngineDevice | undefined;
  readonly guard: Guard;
  readonly undos: Undos;
  /** Called if automations set the same field to different values in turns. */
  readonly fought: (fight: Offence, device: string, field: string) => void;
  /** Called when there is something new to store. */
  readonly changed: () => void;
}

/** Sends the commands of runs, remembers those for a time, and notices automations that fight. */
export class SentCommands {
  readonly #parts: Dependencies;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /**
   * Sends the command of a step at a place of a run.
   * @throws Error for an unknown device, and as the home's `command`
   */
  async send(run: ActiveRun, step: CommandStep, at: string): Promise<void> {
    const { home, undos } = this.#parts;
    const device = this.#parts.device(step.device);
    if (!device) throw new Error(`the device ${step.device} does not exist`);
    this.#watchFights(run, device, step.command);
    const before = valuesBefore(device, step.command);
    if (step.forMs === undefined) undos.release(device.id, Object.keys(before));
    else {
      const { automation, id, by } = run;
      const original = undos.original(device.id, before);
      undos.add({ automation, run: id, at, device: device.id, by, before: original }, step.forMs);
      this.#parts.changed();
    }
    await home.command(device.id, step.command, run.by);
  }

  #watchFights(run: ActiveRun, { id, name }: EngineDevice, command: CommandStep["command"]): void {
    const { clock, guard, fought } = this.#parts;
    const self = { id: run.automation, name: run.name };
    for (const [field, value] of Object.entries(command)) {
      const target = { key: `${id} ${field}`, text: `${field} of ${name}` };
      const fight = guard.set(self, target, value, clock.monotonic());
      if (fight) fought(fight, id, field);
    }
  }
}
