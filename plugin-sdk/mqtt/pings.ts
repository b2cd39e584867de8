import type { MqttClient } from "mqtt";

/** The pings of one connection, including the keep-alive pings. Answers arrive in order. */
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

  /** The time of the last packet from the broker, in milliseconds of the monotonic clock. */
  get heardAt(): number {
    return this.#heardAt;
  }

  /** Sends a ping and calls `answered` at its answer. The broker has then read everything sent before. */
  send(answered: () => void): void {
    this.#client.sendPing();
    this.#waiting.push({ ping: this.#sent, answered });
  }

  /** Accepts any packet as a sign of life, because a busy broker answers pings only after its queued messages. */
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
