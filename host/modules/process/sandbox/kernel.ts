import { closeSync } from "node:fs";
import {
  type Bubblewrap,
  findKernelSupport,
  type KernelSupport,
  openFilter,
  sandboxArguments,
  type SandboxContents,
} from "./bubblewrap.ts";
import { type Cgroup, type CgroupLimits, Cgroups } from "./cgroup.ts";

/** A shell script that writes the shell's pid to the leading files and then executes the remaining command. */
const JOIN_AND_RUN =
  'left=$1; shift; while [ "$left" -gt 0 ]; do echo 0 >"$1" || exit 125; shift; left=$((left - 1)); done; exec "$@"';

/** A command as `spawn` takes it. */
export interface Launch {
  readonly program: string;
  readonly arguments: readonly string[];
  /** Descriptors from 4 on. */
  readonly stdio: readonly ("pipe" | number)[];
  readonly cgroup: Cgroup | undefined;
  /** Closes the descriptors that the child inherited. Call it after the child was spawned. */
  release(): void;
}

/** The kernel's means of confining processes that this machine offers. */
export class Kernel {
  readonly #support: KernelSupport;
  readonly #cgroups: Cgroups | undefined;

  constructor(support: KernelSupport, cgroups?: Cgroups) {
    this.#support = support;
    this.#cgroups = cgroups;
  }

  /** Detects the means that this machine offers. */
  static async open(cacheFolder: string): Promise<Kernel> {
    const support = await findKernelSupport(cacheFolder);
    return new Kernel(support, support.bubblewrap && Cgroups.open());
  }

  /** The reason why processes are not confined; `null` if they are. */
  get reason(): string | null {
    return this.#support.reason;
  }

  /** A command or a step that lets the kernel confine processes; `undefined` if it does. */
  get remedy(): string | undefined {
    return this.#support.bubblewrap ? undefined : this.#support.remedy;
  }

  /** True if the kernel also limits memory, processes and CPU time of each plugin. */
  get hasLimits(): boolean {
    return this.#cgroups !== undefined;
  }

  /** A command that runs `command` in a sandbox; `undefined` without sandboxes. */
  launch(
    command: readonly string[],
    contents: SandboxContents,
    limits: CgroupLimits,
  ): Launch | undefined {
    const { bubblewrap } = this.#support;
    if (!bubblewrap) return undefined;
    const sandboxed = sandboxCommand(bubblewrap, command, contents);
    const filter = openFilter(bubblewrap);
    const cgroup = this.#cgroups?.create(limits);
    const joinFiles = cgroup?.joinFiles ?? [];
    const joining = ["-c", JOIN_AND_RUN, "sh", String(joinFiles.length), ...joinFiles];
    const [program = "", ...rest] = cgroup ? ["/bin/sh", ...joining, ...sandboxed] : sandboxed;
    return {
      program,
      arguments: rest,
      cgroup,
      stdio: [filter, "pipe"],
      release: () => closeSync(filter),
    };
  }

  /** Removes the control groups. Call it after all processes have ended. */
  async close(): Promise<void> {
    await this.#cgroups?.close();
  }
}

function sandboxCommand(
  bubblewrap: Bubblewrap,
  command: readonly string[],
  contents: SandboxContents,
): readonly string[] {
  return [bubblewrap.program, ...sandboxArguments(bubblewrap, contents), "--", ...command];
}
