import { MantelError } from "@mantel/plugin-sdk/errors";
import type { PluginApi } from "@mantel/plugin-sdk/protocol";
import type { Build } from "../code/build.ts";
import { locationInStack } from "../code/code-frame.ts";
import type { PluginPackage } from "../code/manifest.ts";
import { causeOf } from "../process/cause.ts";
import type { Generation } from "../process/generation.ts";
import { type Figures, HealthWatch } from "../process/health.ts";
import { findLeftOpen } from "../process/left-open.ts";
import { readHoldings } from "../process/proc.ts";
import { toFault } from "../status.ts";
import { type LeftOpen, limitsOf, type ModuleFault, type ModuleView } from "../view.ts";
import { type CallCounts, type Called, Calls } from "./calls.ts";
import {
  begin,
  type Candidate,
  causeOfUnrest,
  handOver,
  type HandoverParts,
  RolledBack,
  type Started,
} from "./handover.ts";
import type { Preparation } from "./prepare.ts";

/** After a switch, a crash within this time brings the previous bundle back. */
const PROBATION_MS = 10_000;

/** The limits of one generation. */
export interface ServerLimits extends Readonly<ModuleView["limits"]> {
  /** How long a start inside a reload may take: calls wait meanwhile. */
  readonly reloadStartMs: number;
}

/** What the server side tells its module. */
export interface ServerEvents {
  /** `since` is when the fault began (monotonic, in ms), which is before it was found. */
  onCrash(fault: ModuleFault, since: number): void;
  onFigures(figures: Figures | undefined): void;
  /** Another generation is heard from now on. */
  onSpeaker(): void;
  warn(sentence: string, error: unknown): void;
}

interface ServerParts {
  readonly preparation: Preparation;
  readonly events: ServerEvents;
  /** The limits as they are now; they hold for a generation that starts now. */
  readonly limitsOf: (plugin: PluginPackage) => ServerLimits;
}

/** How the work changed hands. */
export interface Swap {
  readonly downtimeMs: number;
  readonly drained: number;
  readonly stateHandedOver: boolean;
  /** Memory of the old process before, and of the new one after. */
  readonly memory: { readonly beforeBytes: number; readonly afterBytes: number };
  /** What the old code had not closed. */
  readonly leftOpen: readonly LeftOpen[];
}

/** The processes of one module: the live generation, and the one that is to follow it. */
export class ServerSide {
  readonly #preparation: Preparation;
  readonly #events: ServerEvents;
  readonly #limitsOf: ServerParts["limitsOf"];
  readonly #calls: Calls;
  /** Those of the live generation, or of the last one. */
  #limits: ModuleView["limits"] = limitsOf({});
  #live: Started | undefined;
  #speaker: Generation | undefined;
  #swapping = false;
  #previous: { build: Build; state: unknown; until: number } | undefined;
  #health: HealthWatch | undefined;

  constructor(id: string, { preparation, events, limitsOf: limitsNow }: ServerParts) {
    this.#preparation = preparation;
    this.#events = events;
    this.#limitsOf = limitsNow;
    this.#calls = new Calls(id, {
      live: () => this.#live,
      queueLength: () => this.#limits.queueLength,
      onFault: ({ remoteStack }) => events.warn("the plugin's code failed at a call", remoteStack),
    });
  }

  get live(): Started | undefined {
    return this.#live;
  }

  /** True for the one generation whose calls count. */
  hears(generation: Generation): boolean {
    return this.#speaker === generation;
  }

  /** Starts `build` in a new process, without any state unless one is given. */
  async start(build: Build, state?: unknown): Promise<void> {
    const { startMs } = this.#limitsOf(build.plugin);
    const candidate = await this.#preparation.load(build, startMs);
    try {
      this.#become(await begin(candidate, state, this.#handoverParts(startMs)));
      this.letGo();
    } catch (error) {
      throw await this.#preparation.explain(error, candidate);
    }
  }

  /**
   * Replaces the live generation by one of `build`.
   * @throws MantelError `reload_failed`; the live generation goes on as it was
   */
  async reload(build: Build): Promise<Swap> {
    const old = this.#live;
    if (!old) throw new MantelError("module_down", "there is no live generation to reload");
    const { startMs, reloadStartMs } = this.#limitsOf(build.plugin);
    const next = await this.#preparation.load(build, startMs);
    const beforeBytes = readHoldings(old.generation.pid).memoryBytes;
    this.#swapping = true;
    try {
      const { live, ...swap } = await handOver(old, next, this.#handoverParts(reloadStartMs));
      this.#previous = {
        build: old.build,
        state: live.request.handedOver,
        until: performance.now() + PROBATION_MS,
      };
      this.#become(live);
      this.#swapping = false; // from here on a crash is one of the new code
      const leftOpen = await findLeftOpen(old.generation, old.build.plugin.folder);
      await old.generation.terminate();
      const afterBytes = readHoldings(live.generation.pid).memoryBytes;
      return { ...swap, memory: { beforeBytes, afterBytes }, leftOpen };
    } catch (error) {
      if (!(error instanceof RolledBack)) {
        const explained = await this.#preparation.explain(error, next);
        this.#lost(toFault(explained));
        throw explained;
      }
      this.#become(error.live);
      this.#swapping = false; // from here on a crash is one of the old code
      throw await this.#preparation.explain(error.cause, next);
    } finally {
      this.#swapping = false;
    }
  }

  /** Has a process started that a restart can take, so that it need not wait for one. */
  warm(): void {
    this.#preparation.warm();
  }

  /** The build to go back to when the live one has crashed on probation, once. */
  takePrevious(): { build: Build; state: unknown } | undefined {
    const previous = this.#previous;
    this.#previous = undefined;
    return previous && performance.now() < previous.until ? previous : undefined;
  }

  /** Lets calls wait for a successor of the generation that crashed. */
  hold(): void {
    this.#calls.gate.close();
  }

  /** Lets calls go on, or be refused at once when there is no generation. */
  letGo(): void {
    this.#calls.gate.open();
  }

  get counts(): CallCounts {
    return this.#calls.counts;
  }

  /** Resolves when calls need not wait; `undefined` when they need not now. @throws MantelError `module_down` */
  ready(): Promise<void> | undefined {
    return this.#calls.gate.isOpen ? undefined : this.#calls.gate.pass();
  }

  /** Calls the live generation. @throws MantelError as `Calls.call` */
  call<M extends Called>(
    method: M,
    input: Parameters<PluginApi[M]>[0],
    deadlineMs: number = this.#limits.callMs,
  ): Promise<Awaited<ReturnType<PluginApi[M]>>> {
    return this.#calls.call(method, input, deadlineMs);
  }

  /** Quiesces and ends the live generation. */
  async stop(): Promise<void> {
    const live = this.#forget();
    this.letGo();
    if (!live) return;
    const { generation } = live;
    const { quiesceMs } = this.#limits;
    await generation.peer
      .call("quiesce", { deadlineMs: quiesceMs }, quiesceMs + 500)
      .catch(async (error: unknown) =>
        this.#events.warn("the module did not quiesce", await causeOfUnrest(error, generation)),
      );
    this.#speaker = undefined;
    await generation.terminate();
  }

  #handoverParts(startMs: number): HandoverParts {
    return {
      gate: this.#calls.gate,
      startMs,
      quiesceMs: this.#limits.quiesceMs,
      letSpeak: (generation) => {
        this.#speaker = generation;
        this.#events.onSpeaker();
      },
      fits: (state, candidate) => this.#preparation.fits(state, candidate),
      reloadOf: (candidate: Candidate) =>
        this.#preparation.load(candidate.build, this.#limitsOf(candidate.build.plugin).startMs),
      warn: (sentence, error) => this.#events.warn(sentence, error),
    };
  }

  #become(live: Started): void {
    this.#health?.stop();
    if (this.#live?.generation !== live.generation) this.#watchExit(live); // once, however often it is gone back to
    this.#live = live;
    this.#limits = this.#limitsOf(live.build.plugin);
    this.#health = new HealthWatch(live.generation, (figures) => this.#events.onFigures(figures));
  }

  #watchExit(live: Started): void {
    void live.generation.exited.then((exit) => {
      if (this.#live?.generation !== live.generation || this.#swapping) return;
      const place = locationInStack(exit.lastLines.join("\n"), live.build.plugin.folder);
      this.#lost({ message: causeOf(exit), ...place }, exit.ended?.since);
    });
  }

  /** There is no live generation any more, and nobody asked for that. */
  #lost(fault: ModuleFault, since = performance.now()): void {
    this.#forget();
    this.hold();
    this.#events.onCrash(fault, since);
  }

  #forget(): Started | undefined {
    const live = this.#live;
    this.#live = undefined;
    this.#health?.stop();
    this.#health = undefined;
    this.#events.onFigures(undefined);
    return live;
  }
}
