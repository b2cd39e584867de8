import type { ActiveRun, RunDependencies } from "./active-run.ts";
import { attempt } from "./attempt.ts";
import type { Clock, EngineDevice, EngineHome, TracedAction } from "./automation.ts";
import type { Fight, Guard } from "./guard.ts";
import type { StateStore } from "./state-store.ts";
import { isoOf } from "./traces.ts";
import { commandTo, valuesBefore } from "./undo.ts";
import { type UndoRequest, Undos } from "./undos.ts";

type CommandStep = Parameters<RunDependencies["command"]>[1];

interface Dependencies {
  readonly clock: Clock;
  readonly home: Pick<EngineHome, "command">;
  readonly device: (id: string) => EngineDevice | undefined;
  readonly store: StateStore;
  readonly guard: Guard;
  readonly busy: (difference: 1 | -1) => void;
  /** Called if automations set the same field to different values in turns. */
  readonly fought: (fight: Fight, device: string, field: string) => void;
  /** Called when a command for a time has ended. */
  readonly undone: (automation: string, run: string, action: TracedAction) => void;
}

/** Sends the commands of runs, ends those for a time, and notices automations that fight. */
export class SentCommands {
  readonly #parts: Dependencies;
  readonly undos: Undos;

  constructor(parts: Dependencies) {
    this.#parts = parts;
    const { clock, store } = parts;
    this.undos = new Undos({ clock, store, undo: (request) => this.#undo(request) });
  }

  /**
   * Sends the command of a step at a place of a run.
   * @throws Error for an unknown device, and as the home's `command`
   */
  async send(run: ActiveRun, step: CommandStep, at: string): Promise<void> {
    const { home } = this.#parts;
    const device = this.#parts.device(step.device);
    if (!device) throw new Error(`the device ${step.device} does not exist`);
    this.#watchFights(run, device, step.command);
    const before = valuesBefore(device, step.command);
    if (step.forMs === undefined) this.undos.release(device.id, Object.keys(before));
    else {
      const { automation, id, by } = run;
      const original = this.undos.original(device.id, before);
      const request = { automation, run: id, at, device: device.id, by, before: original };
      this.undos.add(request, step.forMs);
    }
    await home.command(device.id, step.command, run.by);
  }

  /** Ends a command for a time. Never rejects. */
  async #undo({ automation, run, at, device: id, before, by }: UndoRequest): Promise<void> {
    const { clock, home, busy, undone } = this.#parts;
    const device = this.#parts.device(id);
    const body = device && commandTo(device, before);
    if (!body) return;
    busy(1);
    const startedAt = isoOf(clock.now());
    const result = await attempt(this.#parts, () => home.command(id, body, by));
    const index = Number.parseInt(at, 10) || 0;
    undone(automation, run, {
      index,
      at,
      type: "undo",
      startedAt,
      endedAt: isoOf(clock.now()),
      ...result,
    });
    busy(-1);
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
