import type { Api } from "./api.ts";

/** Often enough for a screen that is on for only an hour a week. */
const RENEW_EVERY_MS = 6 * 60 * 60 * 1000;

/**
 * Keeps the session of a paired display valid. The host decides when renewal is due, and the answer
 * sets the next cookie.
 */
export function startSessionRenewal(api: Pick<Api, "post">): void {
  const renew = async (): Promise<void> => {
    try {
      await api.post("/tokens/renew");
    } catch (error) {
      console.warn("could not renew the session of this display", error);
    }
  };
  void renew();
  setInterval(() => void renew(), RENEW_EVERY_MS);
}
