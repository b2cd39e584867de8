import type { MqttClient } from "mqtt";

/** The pings of one connection, those that only keep it alive included. Answers come in their order. */
export class Pings {
  readonly #client: MqttClient;
  readonly #waiting: { readonly ping: number; readonly answered: () => void }[] = [];
  #sent = 0;
  #answered = 0;
  #heardAt = performance.now();

  constructor(client: MqttClient) {
    this.#client = client;
    client.on("packetsend", ({ cmd }) => {
      if (cmd === "pingreq") this.#sent += 1;
    });
    client.on("packetreceive", ({ cmd }) => {
      this.#heardAt = performance.now();
      if (cmd === "pingresp") this.#settle();
    });
    this.#beLenient();
  }

  /** When the broker has last sent anything, by the monotonic clock in milliseconds. */
  get heardAt(): number {
    return this.#heardAt;
  }

  /** Pings, and calls back when the answer has come: the broker has read all that was sent before. */
  send(answered: () => void): void {
    this.#client.sendPing();
    this.#waiting.push({ ping: this.#sent, answered });
  }

  /** A busy broker answers pings late, behind all that it sends: what it sends shows that it is there. */
  #beLenient(): void {
    const client = this.#client;
    const giveUp = client.onKeepaliveTimeout.bind(client);
    client.onKeepaliveTimeout = () => {
      if (performance.now() - this.#heardAt > client.keepalive * 1_000) return giveUp();
      client.sendPing();
      client.reschedulePing(true);
    };
  }

  #settle(): void {
    this.#answered += 1;
    while (this.#waiting[0] && this.#waiting[0].ping <= this.#answered) {
      this.#waiting.shift()?.answered();
    }
  }
}
