import { inEachLanguage, type Translation } from "./language.ts";

const english = {
  refused: "This token is not valid any more. It may have ended or been revoked.",
  openLink: "Open the link that Mantel printed when it started, or paste it here.",
  newToken: "makes a new token.",
  linkOrToken: "Link or token",
  openDashboard: "Open the dashboard",
};

const german: Translation<typeof english> = {
  refused: "Dieses Token gilt nicht mehr. Es ist abgelaufen oder wurde widerrufen.",
  openLink: "Öffne den Link, den Mantel beim Start gezeigt hat, oder füge ihn hier ein.",
  newToken: "macht ein neues Token.",
  linkOrToken: "Link oder Token",
  openDashboard: "Dashboard öffnen",
};

/** What a screen without a valid token says, and the page that approves it. */
export const words = inEachLanguage(english, { de: german });
