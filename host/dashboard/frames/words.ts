import { translated, type Translation } from "../i18n/language.ts";

const english = {
  frameDoesNotOpen: "its frame did not load",
  frameDoesNotMount: "it did not start in time",
  frameSilent: "it did not answer for two seconds",
  frameFloods: "it sent too many messages",
  frameMessagesWindow: "it sent a message to the window of the dashboard",
  invalidFrameMessage: "it sent an invalid message",
  frameLeft: "it left its page",
};

const german: Translation<typeof english> = {
  frameDoesNotOpen: "sein Frame wurde nicht geladen",
  frameDoesNotMount: "es wurde nicht rechtzeitig angezeigt",
  frameSilent: "es hat zwei Sekunden nicht geantwortet",
  frameFloods: "es hat zu viele Nachrichten gesendet",
  frameMessagesWindow: "es hat eine Nachricht an das Fenster des Dashboards gesendet",
  invalidFrameMessage: "es hat eine ungültige Nachricht gesendet",
  frameLeft: "es hat seine Seite verlassen",
};

/** Reasons why a frame was stopped. */
export const words = translated("frames", english, { de: german });
