import { MantelError } from "@mantel/plugin-sdk/errors";
import type { PluginApi } from "@mantel/plugin-sdk/protocol";
import { locationInStack } from "./code-frame.ts";
import type { Build } from "./compile.ts";
import { Gate } from "./gate.ts";
import { causeOf, type Generation } from "./generation.ts";
import {
  begin,
  type Candidate,
  handOver,
  type HandoverParts,
  RolledBack,
  type Started,
} from "./handover.ts";
import { type Figures, HealthWatch } from "./health.ts";
import type { PluginPackage } from "./manifest.ts";
import type { Preparation } from "./prepare.ts";
import { limitsOf, type ModuleFault } from "./view.ts";

/** After a switch, a crash within this time brings the previous bundle back. */
const PROBATION_MS = 10_000;

/** How long a start inside a reload may take when the manifest does not say: calls wait meanwhile. */
const RELOAD_START_MS = 1_500;

/** The calls that reach a plugin from the house. */
export type Called = "command" | "activateScene" | "callService";

interface Limits {
  readonly startMs: number;
  readonly reloadStartMs: number;
  readonly quiesceMs: number;
  readonly callMs: number;
  readonly queueLength: number;
}

/** What the server side tells its module. */
export interface ServerEvents {
  onCrash(fault: ModuleFault): void;
  onFigures(figures: Figures | undefined): void;
  /** Another generation is heard from now on. */
  onSpeaker(): void;
  warn(sentence: string, error: unknown): void;
}

/** How the work changed hands. */
export interface Swap {
  readonly downtimeMs: number;
  readonly drained: number;
  readonly stateHandedOver: boolean;
}

/** The processes of one module: the live generation, and the one that is to follow it. */
export class ServerSide {
  readonly #folder: string;
  readonly #preparation: Preparation;
  readonly #events: ServerEvents;
  readonly #limits: Limits;
  readonly #gate: Gate;
  #live: Started | undefined;
  #speaker: Generation | undefined;
  #swapping = false;
  #underWay = 0;
  readonly #counts = { calls: 0, errors: 0, drops: 0 };
  #endedFor: string | undefined;
  #previous: { build: Build; state: unknown; until: number } | undefined;
  #health: HealthWatch | undefined;

  constructor(
    { id, folder, manifest }: PluginPackage,
    preparation: Preparation,
    events: ServerEvents,
  ) {
    this.#limits = {
      ...limitsOf(manifest),
      reloadStartMs: manifest.limits?.startMs ?? RELOAD_START_MS,
    };
    this.#folder = folder;
    this.#preparation = preparation;
    this.#events = events;
    this.#gate = new Gate(id, this.#limits.queueLength);
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
    const candidate = await this.#preparation.load(build, this.#limits.startMs);
    try {
      this.#become(await begin(candidate, state, this.#handoverParts(this.#limits.startMs)));
    } catch (error) {
      throw await this.#preparation.explain(error, candidate.generation);
    }
  }

  /**
   * Replaces the live generation by one of `build`.
   * @throws MantelError `reload_failed`; the live generation goes on as it was
   */
  async reload(build: Build): Promise<Swap> {
    const old = this.#live;
    if (!old) throw new MantelError("module_down", "there is no live generation to reload");
    const next = await this.#preparation.load(build, this.#limits.startMs);
    this.#swapping = true;
    try {
      const { live, ...swap } = await handOver(
        old,
        next,
        this.#handoverParts(this.#limits.reloadStartMs),
      );
      this.#previous = {
        build: old.build,
        state: live.request.handedOver,
        until: performance.now() + PROBATION_MS,
      };
      this.#become(live);
      await old.generation.terminate();
      return swap;
    } catch (error) {
      const cause = error instanceof RolledBack ? error.cause : error;
      const explained = await this.#preparation.explain(cause, next.generation);
      if (error instanceof RolledBack) this.#become(error.live);
      throw explained;
    } finally {
      this.#swapping = false;
    }
  }

  /** The build to go back to when the live one has crashed on probation, once. */
  takePrevious(): { build: Build; state: unknown } | undefined {
    const previous = this.#previous;
    this.#previous = undefined;
    return previous && performance.now() < previous.until ? previous : undefined;
  }

  /** What callers have had since the host started. Drops were refused before the plugin saw them. */
  get counts(): { readonly calls: number; readonly errors: number; readonly drops: number } {
    return this.#counts;
  }

  /** Calls the live generation; waits while the module changes hands. */
  async call<M extends Called>(
    method: M,
    input: Parameters<PluginApi[M]>[0],
    deadlineMs: number = this.#limits.callMs,
  ): Promise<Awaited<ReturnType<PluginApi[M]>>> {
    const live = await this.#admit();
    this.#counts.calls++;
    this.#underWay++;
    try {
      return (await live.generation.peer.call(method, input as never, deadlineMs)) as never;
    } catch (error) {
      this.#counts.errors++;
      throw error;
    } finally {
      this.#underWay--;
    }
  }

  /** The generation that takes a call now. @throws MantelError `module_down` */
  async #admit(): Promise<Started> {
    try {
      await this.#gate.pass();
      const live = this.#live;
      if (live && this.#underWay < this.#limits.queueLength) return live;
      const sentence = live
        ? `${this.#underWay} calls are under way already`
        : "the module is not running";
      throw new MantelError("module_down", sentence, { retryAfterMs: 1_000 });
    } catch (error) {
      this.#counts.drops++;
      throw error;
    }
  }

  /** Quiesces and ends the live generation. */
  async stop(): Promise<void> {
    const live = this.#forget();
    if (!live) return;
    await live.generation.peer
      .call("quiesce", { deadlineMs: this.#limits.quiesceMs }, this.#limits.quiesceMs + 500)
      .catch((error: unknown) => this.#events.warn("the module did not quiesce", error));
    this.#speaker = undefined;
    await live.generation.terminate();
  }

  #handoverParts(startMs: number): HandoverParts {
    return {
      gate: this.#gate,
      startMs,
      quiesceMs: this.#limits.quiesceMs,
      letSpeak: (generation) => {
        this.#speaker = generation;
        this.#events.onSpeaker();
      },
      fits: (state, candidate) => this.#preparation.fits(state, candidate),
      reloadOf: (candidate: Candidate) =>
        this.#preparation.load(candidate.build, this.#limits.startMs),
      warn: (sentence, error) => this.#events.warn(sentence, error),
    };
  }

  #become(live: Started): void {
    this.#health?.stop();
    this.#live = live;
    this.#endedFor = undefined;
    this.#health = new HealthWatch(live.generation, {
      onFigures: (figures) => this.#events.onFigures(figures),
      onUnhealthy: (cause) => {
        this.#endedFor = cause;
        void live.generation.terminate();
      },
    });
    void live.generation.exited.then((exit) => {
      if (this.#live?.generation !== live.generation || this.#swapping) return;
      this.#forget();
      this.#events.onCrash({
        message: this.#endedFor ?? causeOf(exit),
        ...locationInStack(exit.lastLines.join("\n"), this.#folder),
      });
    });
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
