import type { MqttClient } from "mqtt";

/** The pings of one connection, those that only keep it alive included. Answers come in their order. */
export class Pings {
  readonly #client: MqttClient;
  readonly #waiting: { readonly ping: number; readonly answered: () => void }[] = [];
  #sent = 0;
  #answered = 0;

  constructor(client: MqttClient) {
    this.#client = client;
    client.on("packetsend", ({ cmd }) => {
      if (cmd === "pingreq") this.#sent += 1;
    });
    client.on("packetreceive", ({ cmd }) => {
      if (cmd === "pingresp") this.#settle();
    });
  }

  /** Pings, and calls back when the answer has come: the broker has read all that was sent before. */
  send(answered: () => void): void {
    this.#client.sendPing();
    this.#waiting.push({ ping: this.#sent, answered });
  }

  #settle(): void {
    this.#answered += 1;
    while (this.#waiting[0] && this.#waiting[0].ping <= this.#answered) {
      this.#waiting.shift()?.answered();
    }
  }
}
