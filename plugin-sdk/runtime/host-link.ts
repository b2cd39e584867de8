import type { HostApi } from "../protocol.ts";

/** The runner's connection to the host: a process's channel, or a fake in a plugin's test. */
export interface HostLink {
  call<M extends keyof HostApi>(
    method: M,
    input: Parameters<HostApi[M]>[0],
  ): Promise<Awaited<ReturnType<HostApi[M]>>>;
  notify<M extends keyof HostApi>(method: M, input: Parameters<HostApi[M]>[0]): void;
}
