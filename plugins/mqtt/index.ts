import { definePlugin, Type } from "@mantel/plugin-sdk";
import { Link } from "./link.ts";

const Text = (title: string) => Type.Optional(Type.String({ title, minLength: 1 }));

/** The link to the broker that `mqtt.url` names, or else to the embedded one. */
export default definePlugin({
  options: Type.Object({
    url: Type.Optional(
      Type.String({
        title: "Address",
        description: "the address of a broker such as mqtts://nas.local:8883",
        pattern: "^(mqtts?|wss?)://[^\\s@]+$",
      }),
    ),
    username: Text("User name"),
    password: Type.Optional(Type.String({ title: "Password", minLength: 1, writeOnly: true })),
    ca: Text("Certificate (PEM) to trust instead of the system's"),
  }),

  start({ config, call, log, signal, reportDegraded, onDispose }) {
    const { url, ...credentials } = config;
    const broker = async () =>
      url === undefined ? call("broker.address", {}) : { url, ...credentials };

    const link = new Link({ broker, log, report: reportDegraded });
    const running = link.run(signal);
    onDispose(() => running);
    return { services: { "mqtt.publish": (message) => link.publish(message) } };
  },
});
