import { hostProcess, machineDisks } from "@mantel/plugin-sdk/services";
import type { Provider, ServiceCall } from "../services/registry.ts";
import { MachineDisks } from "./disks.ts";
import { HostProcess } from "./host-process.ts";

/** The services of the host: facts of the machine and of the host's process that a plugin's sandbox hides. */
export class MachineServices implements Provider {
  readonly id = "host";
  readonly provides = [machineDisks.name, hostProcess.name];
  readonly definitions = () => [machineDisks, hostProcess];
  readonly #disks = new MachineDisks();
  readonly #process = new HostProcess();

  async callService({ key }: Pick<ServiceCall, "key">): Promise<unknown> {
    return key === machineDisks.name ? this.#disks.list() : this.#process.measure();
  }

  /** Stops measuring the event loop. */
  close(): void {
    this.#process.close();
  }
}
