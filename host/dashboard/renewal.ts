import type { Api } from "./api.ts";
import { keepToken } from "./token.ts";

/** Often enough for a screen that is on for an hour a week. */
const ASK_EVERY_MS = 6 * 60 * 60 * 1000;

/** Keeps the token of a paired display valid for ever. Whether it is due, the host's clock decides. */
export function keepRenewed(api: Api): void {
  const renew = async (): Promise<void> => {
    try {
      const { token } = await api.post<{ token: string | null }>("/tokens/renew");
      if (token !== null) keepToken(token);
    } catch (error) {
      console.warn("the token of this display was not renewed", error);
    }
  };
  void renew();
  setInterval(() => void renew(), ASK_EVERY_MS);
}
