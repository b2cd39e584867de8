import type { Hosts } from "@mantel/plugin-sdk/hosts";
import type { PluginApi } from "@mantel/plugin-sdk/protocol";
import type { Transport } from "@mantel/plugin-sdk/rpc";

/**
 * A transport that reads the hosts from the options it passes to a process: the manifest may name them
 * as `config:<option>`.
 */
export function learnHosts(transport: Transport, hosts: Hosts): Transport {
  return {
    send(message, written) {
      if (message.kind === "call") hosts.learnFromConfig(optionsIn(message.method, message.input));
      transport.send(message, written);
    },
    onMessage: (receive) => transport.onMessage(receive),
  };
}

function optionsIn(method: string, input: unknown): unknown {
  switch (method as keyof PluginApi) {
    case "connect":
    case "start":
    case "test":
    case "setup":
      return (input as { config: unknown }).config;
    case "answer":
      return (input as { answer: unknown }).answer;
    default:
      return undefined;
  }
}
